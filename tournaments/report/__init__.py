"""A run, or several, as one self-contained HTML page, with the numbers of its pictures in CSV files."""

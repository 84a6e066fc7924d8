"""The report on one run or several: a self-contained HTML page, and CSV files with the numbers of its pictures."""

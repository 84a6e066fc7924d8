"""Formats: the record of a hand and the files that hold it, and the lines that tell a hand to a program."""

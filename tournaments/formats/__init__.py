"""Hand histories: the record of a hand, and the file formats that hold it."""

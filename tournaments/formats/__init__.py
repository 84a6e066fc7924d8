"""Hands as files: the common record, and the formats that hold it."""

"""Measurements: speed beside a peer in the same run, the gain of search, and a hash of results."""

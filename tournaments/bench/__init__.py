"""Measurements: speed beside a peer in the same run, the worth of search, and a hash of results."""

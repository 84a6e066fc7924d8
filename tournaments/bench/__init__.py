"""Benchmarks: speed beside peers in the same run, strength of agents and of search, and a hash of results."""

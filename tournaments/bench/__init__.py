"""Measured speed, beside a peer in the same run."""

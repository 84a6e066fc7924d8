"""Sweeps: one spot solved on many flops, with a row of results for each flop."""

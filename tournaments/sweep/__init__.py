"""Sweeps: one spot solved on many flops, with a row for each flop."""

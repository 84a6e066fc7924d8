"""Runs of tournaments."""

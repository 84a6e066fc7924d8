"""Agents in their own processes, so that only their answers reach the run."""

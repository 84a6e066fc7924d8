"""Agents in processes of their own: nothing they do reaches the run but their answers."""

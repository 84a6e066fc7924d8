"""Depth-limited nested search: subgames solved while a hand is played, from beliefs about everybody's cards."""

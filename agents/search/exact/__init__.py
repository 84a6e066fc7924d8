"""Search on games small enough for exact measurements: a subgame is cut from the flat game tree."""

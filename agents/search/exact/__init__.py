"""Search on games small enough for exact proofs: subgames of a flat game tree instead of a street."""

"""The game, and the smaller game that is solved: rules, cards, kernels."""

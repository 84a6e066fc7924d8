"""The smaller betting that is solved: which bets are on offer where."""

"""Games written out as trees: every history, its infosets, and the public states that players share."""

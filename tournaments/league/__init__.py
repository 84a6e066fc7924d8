"""A league: a lasting population of agents, every one of which plays every other heads-up.

A league is a folder. It holds the settings that were fixed at the creation (`config`) and the *entries*, each an agent
with one content (`entries`). It also holds a run folder for each *pairing* of two entries (`pairings`). The class
`folder.League` gives access to all three. `player` plays the hands: at first a new entry against all others, and then
the pairings that `allocation` chooses. `standings` computes the ranking from the stored groups, and `page` shows the
ranking as HTML.
"""

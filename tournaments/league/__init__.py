"""A league: a lasting population of agents, every one of which plays every other heads-up.

A league is a folder with the settings that were fixed at its creation (`config`), its *entries*, each an agent with one
content (`entries`), and a run folder for each *pairing* of two entries (`pairings`). `folder` reads and changes these.
`player` plays: at first a new entry against all others, and then the pairings that `allocation` chooses. `standings`
computes the ranking from the stored groups, and `page` shows the ranking as HTML.
"""

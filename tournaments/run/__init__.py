"""The run of a tournament: workers play its groups, a folder stores them, and the results are computed from the folder.

Settings are in `config` and `default_tournament`. `runner` plays the groups that `store` does not hold yet, and thereby
also resumes a run. `schedule` orders the groups in *blocks* (some decks of one line-up). Worker processes (package
`labour`) share the blocks, and `block_player` plays a block, whose scores become one array (`block_rows`). `stop_rule`
and `stop_watch` end a run early, `retirement` ends the play of an agent with too many faults. `scores` and `results`
compute the results, `table_sums` the zero-sum correction; `witness`, `hand_story` and `kept_hands` keep hands for the
report. `known_runs` finds runs by name; `dry_run` predicts a tournament from a pilot. `lbr_run` is the run of
`plurispiel lbr`, with the settings in `lbr_config`.

The *Control* of the format ``lineup-5v1`` is a further copy of the first agent that plays every hand again in the
second agent's seat.
"""

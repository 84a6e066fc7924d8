"""A tournament's run: played by workers, stored group by group, resumed, scored.

Settings are in `config` and `default_tournament`; `runner` plays what `store` does not hold yet, which is also how a
run is resumed. `schedule` orders the work, `workers` share it, `block_player` plays it. `stop_rule` and `stop_watch`
end a run early, `retirement` ends an agent's part in it. `scores` and `results` sum up; `known_runs` finds runs by
name; `dry_run` plays a pilot. `lbr_run` is the run of `plurispiel lbr`.
"""

"""Simple agents to measure others against: `random`, `call`, `fold`, `raise`, `equity` and `tag`."""

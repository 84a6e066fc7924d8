"""Simple agents to measure other agents against: `random`, `call`, `fold`, `raise`, `equity` and `tag`."""

"""A person plays against agents in the terminal: `plurispiel play`.

`session` plays the hands. The person's seat is an agent like any other (`person`): the seat is told what `play_hand`
tells agents, so that nothing hidden can reach the screen. `table_view` turns the situation into text, `prompt` turns
keys into actions, and `screen` writes and reads lines. `opponents` builds the agents, `adviser` is the agent behind
``--hint``. After the hand, `hand_review` shows all cards and decisions, `luck` computes the person's score, and
`history` keeps the hand.
"""

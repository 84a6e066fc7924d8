"""A person plays against agents in the terminal: `plurispiel play`.

`dealing` plays and scores the hands, also for the browser (`web`), and `session` shows them in the terminal. The
person's seat is an agent like any other (`person`). Until the end of a hand this agent knows only the messages of
`play_hand` to its seat, so that no hidden card can reach the screen. `table_view` turns the situation into text,
`prompt` turns keys into actions, and `screen` writes and reads lines. `opponents` builds the agents, and `adviser` is
the agent behind ``--hint``. After the hand, `hand_review` shows all cards and decisions, `luck` computes the person's
score, and `history` keeps the hand.
"""

"""The agent `tag` as a program of the line protocol, which reads nothing but the state and its cards."""

import base64
import json
import sys

import numpy as np

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.agents.base import PublicState, View
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.tournaments.formats.match_state import read_match_state


def text(action):
    return "fc"[action] if action < 2 else f"r{action}"


def main():
    agent, rules = TightAggressiveAgent(), None
    for line in sys.stdin:
        message = json.loads(line)
        answer = None
        if message["type"] == "hello":
            rules = parse_game(message["game"]["openspiel"])
            answer = {"type": "ready", "protocol": 1, "answers": ["act", "range"], "deterministic": True}
        elif message["type"] == "hand":
            agent.restart(rules, message["seat"], np.random.default_rng(message["seed"]))
        elif message["type"] in ("act", "range"):
            state = read_match_state(message["state"], rules) if message["type"] == "act" else None
            public = public_of(message, rules)
            answer = {"type": "range", "id": message["id"]}
            if state is None:
                strategy = agent.range_strategy(public)
                rows = np.asarray(strategy.probabilities, dtype="<f4")
                answer["actions"] = list(map(text, strategy.actions.tolist()))
                answer["probabilities"] = base64.b64encode(rows.tobytes()).decode()
            else:
                assert parse_cards(message["cards"]) == state.hole_cards[message["seat"]]
                decision = agent.act(View(public, message["seat"], parse_cards(message["cards"])))
                told = dict(zip(map(text, decision.actions), decision.probabilities, strict=True))
                answer |= {"type": "action", "action": text(decision.action), "probabilities": told}
        if answer:
            print(json.dumps(answer), flush=True)


def public_of(message, rules):
    """Return the public state, from the betting in the state and the board."""
    from plurispiel.tournaments.formats.acpc import read_betting

    betting = read_betting(message["state"].split(":")[3], rules)
    return PublicState(rules, betting.state.array.tolist(), parse_cards(message["board"]), tuple(betting.actions))


main()

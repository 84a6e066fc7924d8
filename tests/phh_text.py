"""A hand in PHH, changed field by field, and what PokerKit pays for it."""

import io
import tomllib
import warnings

import pokerkit

from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.tournaments.formats.phh import read_phh, write_phh

THREE = """\
variant = 'NT'
ante_trimming_status = true
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [10000, 5000, 1000]
actions = ['d dh p1 8hKd', 'd dh p2 2c7s', 'd dh p3 7h9c', 'p3 cbr 225', 'p1 f', 'p2 cc', 'd db 2d7d9h',
  'p2 cc', 'p3 cbr 300', 'p2 f']
hand = 2
players = ['MrOrange', 'Hattori', 'Pluribus']
finishing_stacks = [9950, 4775, 1275]
"""


def read(tmp_path, text, name="hand.phh"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_phh(path))


def with_fields(text=THREE, **fields):
    """The text with other fields; None removes one."""
    values = tomllib.loads(text)
    lines = {key: f"{key} = {value!r}".replace("True", "true") for key, value in values.items()}
    for key, value in fields.items():
        lines[key] = f"{key} = {value}" if value is not None else ""
    return "\n".join(lines.values()) + "\n"


def one(tmp_path, text=THREE, **fields):
    (hand,) = read(tmp_path, with_fields(text, **fields))
    return hand


def payoffs(hand):
    betting = replay_betting(hand.rules, hand.actions)
    return replay_hand(betting, hand.hole_cards, hand.board, hand.mucked).payoffs


def written(histories):
    stream = io.StringIO()
    write_phh(stream, histories)
    return stream.getvalue()


def by_pokerkit(text):
    """Return pokerkit's net chips of a hand, or None where it refuses an action."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (history,) = pokerkit.HandHistory.loads_all(text)
        try:
            *_, state = history
        except ValueError:
            return None
    betting = (pokerkit.Folding, pokerkit.CheckingOrCalling, pokerkit.CompletionBettingOrRaisingTo)
    taken = sum(isinstance(operation, betting) for operation in state.operations)
    assert taken == sum(action.split()[1] in ("f", "cc", "cbr") for action in history.actions), text  # none of its own
    assert not state.status, text
    return [float(after) - float(before) for after, before in zip(state.stacks, history.starting_stacks, strict=True)]

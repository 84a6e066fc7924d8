"""The hands of a store as a log of the ACPC's dealer, which `plurispiel replay` reads."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.files import writing_atomically
from plurispiel.evaluation.replay import replay_hand
from plurispiel.tournaments.formats.acpc import write_acpc, write_header
from plurispiel.tournaments.formats.game_definition import built_in_name
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.match_state import read_match_state
from plurispiel.tournaments.remote.store import SCORED, ServiceHand


def write_hand_log(path: Path, hands: Iterable[ServiceHand], rules: HoldemRules, name: str, seed: int) -> None:
    """Write the scored hands to a file; an existing file is replaced.

    Parameters
    ----------
    rules : HoldemRules
        The game, which has to be one of the ACPC's.
    name : str
        Our agent's name.
    seed : int
        The agent's seed, for the header.

    Raises
    ------
    ValueError
        If a kept hand is damaged.
    """
    game = built_in_name(rules)
    assert game is not None
    scored = [hand for hand in hands if hand.status == SCORED]
    with writing_atomically(path) as stream:
        write_header(stream, path.stem, game, len(scored), seed)
        write_acpc(stream, _histories(scored, rules, name))


def _histories(hands: Iterable[ServiceHand], rules: HoldemRules, name: str) -> Iterator[HandHistory]:
    for hand in hands:
        state = read_match_state(hand.state, rules)
        payoffs = replay_hand(state.betting, state.hole_cards, state.board).payoffs
        opponent = hand.opponent if hand.opponent != name else f"{name} (opponent)"
        names = (name, opponent) if state.seat == 0 else (opponent, name)
        sizes = state.betting.sizes
        yield HandHistory(rules, names, state.hole_cards, state.board, sizes, payoffs, str(hand.number))

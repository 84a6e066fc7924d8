"""The results of `plurispiel exploitability` and `plurispiel solve`, as plain values and as text."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.openspiel import GAME_NAMES, parse_game
from plurispiel.abstraction.trees.game_tree import GameTree
from plurispiel.evaluation.best_response import Exploitability


class SizedGame(NamedTuple):
    """The OpenSpiel string and the size of a game that is measured without a `GameTree`."""

    game: str
    num_histories: int
    num_infosets: int


def game_record(
    game: GameTree | SizedGame,
    found: Exploitability,
    *,
    seconds: float,
    setup_seconds: float,
    algorithm: str | None = None,
    iterations: int | None = None,
    agent: str | None = None,
    curve: Iterable[tuple[int, float, float]] = (),
) -> dict[str, Any]:
    """Return the record that ``--json`` prints.

    Parameters
    ----------
    seconds : float
        Time to solve, to search and to measure.
    setup_seconds : float
        Earlier time: to load kernels and, with a `GameTree`, to flatten the game and to read the strategy of an agent
        or a policy.
    algorithm, iterations : optional
        The solver that computed the strategy, and the number of its iterations; None for the strategy of an agent.
    agent : str, optional
        The spec of an agent, the name of the class of an agent object, or the folder of the policy; None in
        `plurispiel solve`.
    curve : iterable of (iteration, seconds, exploitability)
        Measurements of a solver, with seconds since its start. With three or more players, or if the game is not
        zero-sum, NashConv takes the place of exploitability.
    """
    unit, big_blind = unit_of(game.game)
    return {
        "game": game.game,
        "histories": game.num_histories,
        "infosets": game.num_infosets,
        "agent": agent,
        "algorithm": algorithm,
        "iterations": iterations,
        "seconds": seconds,
        "setup_seconds": setup_seconds,
        "values": found.values.tolist(),
        "nash_conv": found.nash_conv,
        "exploitability": found.exploitability,
        "incentives": found.incentives.tolist(),
        "unit": unit,
        "big_blind": big_blind,
        "curve": [list(point) for point in curve],
    }


def record_text(record: dict[str, Any]) -> str:
    """Return a record as a table of seats, with NashConv and exploitability below."""
    unit = record["unit"]
    rows = [("seat", "value", "best response", "incentive")]
    for seat, (value, incentive) in enumerate(zip(record["values"], record["incentives"], strict=True)):
        rows.append((str(seat), f"{value:+z.6f}", f"{value + incentive:+z.6f}", f"{incentive:.6f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines[0] += f"   ({unit})"
    lines.append("")
    lines.append(f"NashConv {amount_text(record['nash_conv'], record)}")
    if record["exploitability"] is None:
        lines.append("exploitability: not defined (it takes two players and a zero-sum game)")
    else:
        lines.append(f"exploitability {amount_text(record['exploitability'], record)}")
    return "\n".join(lines)


def amount_text(amount: float, record: dict[str, Any]) -> str:
    """Return an amount as text, in the unit of a game's record, and also in mbb/hand if the record has a big blind."""
    text = f"{amount:.6g} {record['unit']}" if amount < 1e-3 else f"{amount:,.6f} {record['unit']}"
    if record["big_blind"]:
        text += f" = {1000.0 * amount / record['big_blind']:,.6g} mbb/hand"
    return text


def unit_of(game: str) -> tuple[str, int | None]:
    """Return the unit of a game's payoffs, chips in poker and points in other games, and the big blind in chips.

    The big blind is None in games other than `universal_poker`, and where all blinds are equal: equal blinds are antes.

    >>> unit_of("leduc_poker()"), unit_of("liars_dice(numdice=1)")
    (('chips', None), ('points', None))
    """
    if game.partition("(")[0] not in GAME_NAMES:
        return "points", None
    if not game.startswith("universal_poker"):
        return "chips", None
    blinds = parse_game(game).blinds
    return "chips", None if len(set(blinds)) == 1 else max(blinds)

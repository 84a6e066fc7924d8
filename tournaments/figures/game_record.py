"""The record and the text that `exploitability` and `solve` report of a small game."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.openspiel import GAME_NAMES, parse_game
from plurispiel.abstraction.trees.game_tree import GameTree
from plurispiel.evaluation.best_response import Exploitability


class SizedGame(NamedTuple):
    """A game's OpenSpiel string and size."""

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
        Time of iterations and evaluations only.
    setup_seconds : float
        Time of compilation, of flattening, and of reading an agent's strategy.
    algorithm, iterations : optional
        The solver that made the strategy and its iterations, if a solver did.
    agent : str, optional
        The agent's spec, or the folder of the policy.
    curve : iterable of (iteration, seconds, exploitability)
        Measurements of a solver. With three or more players, or if the game is not zero-sum, NashConv takes the place
        of exploitability.
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
    """Return an amount with its unit, and in mbb/hand where there is a big blind."""
    text = f"{amount:.6g} {record['unit']}" if amount < 1e-3 else f"{amount:,.6f} {record['unit']}"
    if record["big_blind"]:
        text += f" = {1000.0 * amount / record['big_blind']:,.6g} mbb/hand"
    return text


def unit_of(game: str) -> tuple[str, int | None]:
    """Return the name of a game's unit, and its big blind in that unit, None where there is none.

    Where all blinds are equal they count as antes, and no blind is the big one.

    >>> unit_of("leduc_poker()"), unit_of("liars_dice(numdice=1)")
    (('chips', None), ('points', None))
    """
    if game.partition("(")[0] not in GAME_NAMES:
        return "points", None
    if not game.startswith("universal_poker"):
        return "chips", None
    blinds = parse_game(game).blinds
    return "chips", None if len(set(blinds)) == 1 else max(blinds)

"""Match logs of the ACPC's dealer, with a line for each hand.

``STATE:0:cr300c/cr900f:AsKs|QdJd/2c3d4h:-300|300:Alice|Bob`` holds the number of the hand, the betting, hole cards and
board, net chips, and names. Streets are separated by ``/``. Within a field, ``|`` separates the entries of the seats. A
no-limit raise is written with the chips bet over the whole hand, a limit raise without a size. Players change seats
from hand to hand, so the names change places. A reduced deck has the highest ranks and last suits in these logs, but
the lowest ranks and first suits everywhere else in plurispiel.

In the names of agents, colons are written as ``%3A`` and bars as ``%7C``. Percent signs and unprintable characters are
escaped in the same way. The reader decodes escapes; a name whose escapes are not UTF-8 is kept as written.
"""

import functools
import itertools
import math
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TextIO

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, card_text
from plurispiel.abstraction.holdem.rules import HULH, MAX_HAND_CARDS, HoldemRules
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.base import Action
from plurispiel.evaluation.replay import RAISE, Betting, replay_betting
from plurispiel.tournaments.formats.game_definition import BUILT_IN, game_by_name
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

LOG_BEGIN = b"# name/game/hands/seed "
"""How the logs begin that are written here."""

_MAX_LINE = 1 << 16
_FIELDS = "STATE:number:betting:cards:chips:names"
_RAISE = re.compile(r"r\d*")
_CHIPS = re.compile(r"-?\d+(\.\d*)?(\|-?\d+(\.\d*)?)*")
_CARDS = {card_text(card): card for card in range(NUM_CARDS)}
_MAX_DIGITS = 10
_NEXT_STREET, _NINE, _ZERO, _CALL, _FOLD, _ANY_RAISE = map(ord, "/90cfr")
_HEADER = re.compile(r"#\s*name/game/hands/seed\s(.*)")


def read_acpc(path: Path, rules: HoldemRules | None = None) -> Iterator[HandHistory | BrokenHistory]:
    """Yield the hands of a match log, and a `BrokenHistory` for each defect.

    Parameters
    ----------
    rules : HoldemRules, optional
        The game of all hands. By default, each match has the game that its comment ``# name/game/hands/seed ...``
        names. If the log's folder has a game file of that name, the game is read from this file, otherwise it is the
        built-in game of that name. A path before the name is ignored.
    """
    file = str(path)
    game = rules
    header = ""
    number = num_hands = 0
    try:
        with path.open("rb") as stream:
            while line := stream.readline(_MAX_LINE):
                number += 1
                text = line.decode("utf-8", errors="backslashreplace").rstrip("\r\n")
                if text.startswith("STATE:"):
                    num_hands += 1
                    game = game or _game_of(path, header)
                    label = text.split(":", 2)[1]
                    label = label if label.isascii() and label.isdigit() else f"at line {number}"
                    try:
                        yield _history(text, game, label)
                    except ValueError as error:
                        yield BrokenHistory(file, label, str(error))
                elif match := _HEADER.match(text):
                    header = match[1]
                    game = rules
                elif text.strip() and not text.startswith(("#", "SCORE:")):
                    if not num_hands:
                        raise ValueError(
                            f"not a log of the ACPC's dealer: line {number} is {text[:40]!r}, "
                            "neither a STATE line nor a comment"
                        )
                    yield BrokenHistory(file, f"at line {number}", f"neither a STATE line nor a comment: {text[:40]!r}")
        if not num_hands:
            raise ValueError("holds no hand")
    except OSError as error:
        yield BrokenHistory(file, None, error.strerror or str(error))
    except ValueError as error:
        yield BrokenHistory(file, None, str(error))


def warmup() -> None:
    """Compile every kernel of this module."""
    _history("STATE:0:f:|:5|-5:A|B", HULH, "0")


def write_header(stream: TextIO, name: str, game: str, num_hands: int, seed: int | str = 0) -> None:
    """Write the comment with which a log begins; `read_acpc` takes the name of the game from this comment.

    Parameters
    ----------
    name, game : str
        The names of the match and of its game file; the name of the match is changed by `one_word`.
    """
    stream.write(f"{LOG_BEGIN.decode()}{one_word(name)} {game} {num_hands} {seed}\n")


def write_score(stream: TextIO, totals: Sequence[float], names: Sequence[str]) -> None:
    """Write the result with which a log ends: the net chips of all hands, by player."""
    stream.write(f"SCORE:{'|'.join(map(_chips_text, totals))}:{'|'.join(map(_written_name, names))}\n")


def one_word(text: str) -> str:
    """Return a text with a ``_`` for each run of characters other than ASCII letters, digits, ``.``, ``-`` and ``_``.

    An empty text becomes ``run``.
    """
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII) or "run"


def write_acpc(stream: TextIO, histories: Iterable[HandHistory]) -> None:
    """Write hands of one game as STATE lines.

    A label of digits is written as the number of the hand. In place of any other label, the hand's index in `histories`
    is written. Board cards that the betting did not reach are left out, as in the dealer's logs.

    Raises
    ------
    ValueError
        If a hand breaks the rules, is not over, lacks payoffs or board cards, or has another game than the first hand.
        Also if the game deals board cards before the first betting.
    """
    game = None
    for number, history in enumerate(histories):
        game = game or history.rules
        try:
            if history.rules != game:
                raise ValueError("a log holds hands of one game, and this hand's game differs from the first hand's")
            stream.write(_state_line(history, number) + "\n")
        except ValueError as error:
            raise ValueError(f"hand {history.label}: {error}") from None


def read_betting(text: str, rules: HoldemRules) -> Betting:
    """Return the replayed betting of a text like ``cr300c/cr900f``, with a ``/`` before each street but the first.

    Raises
    ------
    ValueError
        If the text is malformed, holds an action that the rules do not allow, or ends a street elsewhere than
        the rules do.
    """
    letters = np.frombuffer(text.encode(), dtype=np.uint8)
    actions, streets = moves = np.empty((2, len(letters)), dtype=np.int64)
    num_actions, wrong_raise = _read_betting(letters, rules.is_limit, moves)
    if num_actions < 0:
        raise ValueError(f"betting is written with f, c, r with at most {_MAX_DIGITS} digits, and /, got {text[:80]!r}")
    if wrong_raise >= 0:
        raise ValueError(_raise_text(text[wrong_raise:], rules.is_limit))
    betting = replay_betting(rules, actions[:num_actions])
    if list(betting.streets) != streets[:num_actions].tolist() or betting.state.street != text.count("/"):
        raise ValueError(f"in this game the streets of {text[:80]!r} do not end at the signs /")
    return betting


def read_cards(text: str, betting: Betting) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Return the cards in a text like ``AsKs|QdJd/2c3d4h``: the hole cards by seat, empty where unknown, and the board.

    Raises
    ------
    ValueError
        If the text is malformed, has too few or too many seats, or its board does not have exactly the cards of the
        streets that `betting` has reached. Also if the game deals board cards before the first betting.
    """
    rules = betting.rules
    street = betting.state.street
    hole_text, *board_texts = text.split("/")
    first = _first_card(rules)
    hole_cards = tuple(_cards(text, first) for text in hole_text.split("|"))
    boards = [_cards(text, first) for text in board_texts]
    if len(hole_cards) != rules.num_seats:
        raise ValueError(f"the game needs hole cards of {rules.num_seats} seats, got {len(hole_cards)}")
    if tuple(map(len, boards)) != rules.board_cards[1 : street + 1]:
        sizes = "/".join(map(str, rules.board_cards[1 : street + 1])) or "no"
        raise ValueError(f"after this betting the board has {sizes} cards, got {'/'.join(board_texts)[:40]!r}")
    return hole_cards, tuple(card for cards in boards for card in cards)


def write_betting(rules: HoldemRules, actions: Iterable[Action], street: int) -> str:
    """Return the text of the betting of a hand that has reached `street`; `read_betting` reads the text."""
    moves = [""] * (street + 1)
    for _, action, when in actions:
        moves[when] += write_action(action, rules)
    return "/".join(moves)


def write_action(action: int, rules: HoldemRules) -> str:
    """Return an action as text: ``f``, ``c`` or ``r900``; in a limit game a raise is ``r``."""
    return "fc"[action] if action <= CALL else "r" if rules.is_limit else f"r{action}"


def write_cards(rules: HoldemRules, hole_cards: Iterable[Iterable[int]], board: Sequence[int], street: int) -> str:
    """Return the text of hole cards by seat and of the board up to a street; `read_cards` reads the text.

    Raises
    ------
    ValueError
        If the game deals board cards before the first betting.
    """
    first = _first_card(rules)

    def text(cards: Iterable[int]) -> str:
        return "".join(card_text(card + first) for card in cards)

    sizes = [rules.board_size(each) for each in range(street + 1)]
    boards = [text(board[start:end]) for start, end in itertools.pairwise(sizes)]
    return "/".join(["|".join(map(text, hole_cards)), *boards])


def _game_of(log: Path, header: str) -> HoldemRules:
    """Return the game that `header` names; `header` has the words ``NAME GAME HANDS SEED`` of a log's comment."""
    words = header.split()
    if len(words) < 4:
        raise ValueError("the log does not name its game in '# name/game/hands/seed'; give --game FILE.game")
    name = PurePosixPath(PureWindowsPath(words[-3]).name).name  # the base name only: a log must not open other files
    beside = log.parent / name
    if not beside.exists() and name not in BUILT_IN:
        raise ValueError(f"the log's game {name!r} is neither in its folder nor built in; give --game FILE.game")
    return game_by_name(str(beside))


def _history(line: str, rules: HoldemRules, label: str) -> HandHistory:
    """Return the hand of a STATE line.

    `label` is the hand's number as written in the line. If the two differ, the number is refused as malformed.
    """
    fields = line.split(":", 5)
    if len(fields) != 6:
        raise ValueError(f"the line has {len(fields)} of 6 fields ({_FIELDS})")
    _, number, betting_text, cards_text, chips_text, names_text = fields
    if number != label:
        raise ValueError(f"the hand's number must be digits, got {number[:40]!r}")
    betting = read_betting(betting_text, rules)
    hole_cards, board = read_cards(cards_text, betting)
    if not _CHIPS.fullmatch(chips_text):
        raise ValueError(f"chips are written 1|-1, got {chips_text[:40]!r}")
    payoffs = tuple(map(float, chips_text.split("|")))
    names = tuple([_read_name(name) if "%" in name else name for name in names_text.split("|")])
    for what, values in (("chips", payoffs), ("names", names)):
        if len(values) != rules.num_seats:
            raise ValueError(f"the game needs {what} of {rules.num_seats} seats, got {len(values)}")
    if not all(map(math.isfinite, payoffs)):
        raise ValueError(f"chips must be numbers, got {chips_text[:40]!r}")
    return HandHistory(rules, names, hole_cards, board, betting.sizes, payoffs, label, betting=betting)


def _raise_text(text: str, is_limit: bool) -> str:
    """Return the message about a raise that the game does not allow. `text` begins with this raise."""
    move = _RAISE.findall(text)[0]
    if is_limit == (move != "r"):
        return f"a raise is written {'r' if is_limit else 'r and its chips'} in this game, got {move!r}"
    return f"a raise is to 2 chips or more, got {move!r}"


def _first_card(rules: HoldemRules) -> int:
    """Return the number, in the full deck, of the lowest card of a game's ACPC deck. This package numbers that card 0.

    The ACPC takes a reduced deck from the top of the full deck, this package from the bottom.
    """
    if rules.board_cards[0]:
        raise ValueError("an ACPC log has no place for board cards before the first betting")
    return 4 * (NUM_RANKS - rules.num_ranks) + NUM_SUITS - rules.num_suits


@functools.lru_cache(maxsize=1 << 14)
def _cards(text: str, first: int) -> tuple[int, ...]:
    """Return the cards in a text as numbers of this package; `first` is `_first_card` of the game."""
    try:
        cards = tuple([_CARDS[text[k : k + 2]] - first for k in range(0, len(text), 2)])
    except KeyError:
        raise ValueError(f"cards are written like AsKd, got {text[:40]!r}") from None
    if len(cards) > MAX_HAND_CARDS:  # an exception also keeps the text out of the cache
        raise ValueError(f"a hand has at most {MAX_HAND_CARDS} cards, got {len(cards)}: {text[:40]!r}")
    if first and any(card < 0 or card % 4 >= NUM_SUITS - first % 4 for card in cards):
        raise ValueError(f"the deck of this game begins at {card_text(first)} and has no {text[:40]!r}")
    return cards


def _read_name(text: str) -> str:
    try:
        return urllib.parse.unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:  # not written by `write_acpc`
        return text


def _chips_text(chips: float) -> str:
    return repr(float(chips)).removesuffix(".0")


def _written_name(name: str) -> str:
    return "".join(
        char if char.isprintable() and char not in "%:|" else urllib.parse.quote(char, "", errors="surrogatepass")
        for char in name
    )


def _state_line(history: HandHistory, number: int) -> str:
    rules = history.rules
    betting = replay_betting(rules, history.actions)
    if not betting.state.is_over:
        raise ValueError("the hand stops before its end")
    if history.payoffs is None:
        raise ValueError("an ACPC log states payoffs, and this hand has none")
    if len(history.board) < betting.board_size:
        raise ValueError(f"{len(history.board)} of {betting.board_size} board cards are known")
    street = betting.state.street
    moves = write_betting(rules, betting.actions, street)
    cards = write_cards(rules, history.hole_cards, history.board, street)
    chips = "|".join(map(_chips_text, history.payoffs))
    label = history.label if history.label.isascii() and history.label.isdigit() else str(number)
    names = "|".join(map(_written_name, history.names))
    return f"STATE:{label}:{moves}:{cards}:{chips}:{names}"


@kernel
def _read_betting(text, is_limit, moves):
    """Fill `moves` from a betting text, and return the number of actions and the index of a raise that is not allowed.

    Parameters
    ----------
    text : uint8[n]
        The ASCII codes of the betting text.
    is_limit : bool
        True if raises must have no size, as in limit games. False if they must have a size, but not 0 or 1, which are
        the numbers of fold and call.
    moves : int64[2, n]
        Modified in place: actions in the first row (`RAISE` for a raise without a size), their streets in the second.

    Returns
    -------
    int, int
        First, the number of actions; -1 if the text is malformed. Second, the index in `text` of the first raise that
        is not allowed; -1 without such a raise. In a malformed text, the second number is the index of the first action
        that cannot be read.
    """
    num_actions = street = start = 0
    wrong_raise = -1
    while start < text.shape[0]:
        letter = text[start]
        end = start + 1
        if letter == _NEXT_STREET:
            street += 1
        else:
            action = RAISE
            if letter == _FOLD:
                action = FOLD
            elif letter == _CALL:
                action = CALL
            elif letter == _ANY_RAISE:
                while end < text.shape[0] and _ZERO <= text[end] <= _NINE:
                    action = 10 * max(action, 0) + int(text[end]) - _ZERO
                    end += 1
                    if end - start > 1 + _MAX_DIGITS:
                        return -1, start
                if wrong_raise < 0 and (is_limit == (action != RAISE) or FOLD <= action <= CALL):
                    wrong_raise = start
            else:
                return -1, start
            moves[0, num_actions] = action
            moves[1, num_actions] = street
            num_actions += 1
        start = end
    return num_actions, wrong_raise

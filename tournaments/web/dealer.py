"""A table's process: it deals, asks the agents and the person, scores and keeps hands: ``python -m ...dealer PID``.

The server starts it, writes lines of JSON to its input, and passes its output on. The first line is an `Order`, and
all others are moves: ``{"page": 3, "move": {...}}``. The process prints ``table``, ``view`` or ``error PAGE`` with a
JSON object, or ``broken`` and a reason. When its input ends, as when the server ends, the process and its agents end.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.agents.factory import try_stored
from plurispiel.agents.specs import parse_spec, unique_names
from plurispiel.evaluation.value_choice import choose_values
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import Isolation, isolate
from plurispiel.tournaments.contestants.process import close_to_others, die_with
from plurispiel.tournaments.play.dealing import YOU, Dealing, Table
from plurispiel.tournaments.play.history import AGENTS_LOG
from plurispiel.tournaments.play.opponents import MAX_FAULTS, Opponents, default_agent
from plurispiel.tournaments.run.kernels import warmup_play
from plurispiel.tournaments.web.assistant import Assistant
from plurispiel.tournaments.web.history import FILE, PlayStore, SessionHand
from plurispiel.tournaments.web.play_setting import Move, Order, rules_of
from plurispiel.tournaments.web.seat import BrowserPerson, Inbox, Said
from plurispiel.tournaments.web.view import hand_data, hand_end, table_facts


class Dealer:
    """Plays the hands of a session.

    Parameters
    ----------
    order : Order
        The session.
    inbox : Inbox
        The moves of the pages, and the assistant's help.
    tell : callable
        Takes the kind of a line and its JSON object.

    Raises
    ------
    ValueError
        If an agent does not exist or does not load, or if the file of the hands cannot be used.
    """

    def __init__(self, order: Order, inbox: Inbox, tell: Callable[[str, dict[str, Any]], None]):
        folder = Path(order.folder)
        self._tell = tell
        self._store = PlayStore(folder / FILE)
        sit, digests = (order.sit, {}) if order.sit else self._store.sit_of(order.session)
        assert sit is not None
        rules = self._rules = rules_of(sit)
        everyone = list(dict.fromkeys([*sit.agents, sit.adviser]))
        for spec in everyone:
            try_stored(spec, rules)
        found = {spec: agent_digest(spec) for spec in everyone}
        if not order.sit and found != digests:
            changed = [spec for spec in everyone if found[spec] != digests.get(spec)]
            raise ValueError(f"{', '.join(changed)} has changed since this session began; sit down at a new table")
        isolation = order.outside.isolation(everyone, lambda text: None, [folder / FILE], folder / AGENTS_LOG)
        self._values = choose_values(rules)
        self._opponents = Opponents(sit.agents, isolation.limits, isolation.sandbox, folder / AGENTS_LOG)
        self._assistant = Assistant(
            rules, sit.agents, sit.adviser, lambda spec: _isolated(spec, isolation), lambda part: inbox.put(part)
        )
        warmup_play(everyone, rules)
        warmup_values(self._values, rules)
        self._person = BrowserPerson(inbox, self._show, self._refuse, self._assistant)
        self._person.pace, self._person.assist = sit.pace, sit.assist
        seed = int(sit.seed) if sit.seed else None
        table = Table(rules, (YOU, *unique_names(list(sit.agents))), self._values, seed)
        self._dealing = Dealing(table, self._person, self._opponents)
        self._results = {False: self._dealing.no_result(), True: self._dealing.no_result()}
        self._session = order.session or self._store.begin(sit, found)
        for hand in self._store.hands(self._session):
            self._add(hand)
        facts = table_facts(rules, _title(rules), self._values)
        tell("table", {**facts, "session": self._session, "adviser": printable(parse_spec(sit.adviser).title)})

    def close(self) -> None:
        """End all processes, and close the file."""
        self._assistant.close()
        self._opponents.__exit__()
        self._store.close()

    def play_hand(self) -> None:
        """Play a hand and keep it, and wait until the person wants the next one."""
        store, person = self._store, self._person
        seating = self._dealing.seating(store.next_number(self._session))
        store.note_dealt(self._session, seating.number)
        person.sit(seating, self._dealing.adviser_stream(seating), {"results": self._records()})
        hand = self._dealing.play(seating)
        end = hand_end(hand, seating)
        person.end(end)
        scored = self._dealing.score(hand, seating)
        helped = person.is_assisted
        kept = store.keep(self._session, hand, seating, scored.table, is_assisted=helped)
        estimate = self._add(kept)
        store.note_result(self._session, self._records())
        faults, retired = self._dealing.faults(hand, seating)
        chips = kept.kept.chips
        end |= {
            "luck": {"won": chips, "luck": round(chips - estimate, 6), "played": round(estimate, 6)},
            "troubles": [f"{name}: {fault.kind}: {fault.message}"[:400] for name, fault in faults]
            + [f"{name} has committed {MAX_FAULTS} faults: its seat only folds from now on" for name in retired],
            "data": hand_data(hand, seating, scored, self._values, shows_strategies=person.assist != "off"),
        }
        person.wait_for_next({"end": end, "results": self._records()})

    def _add(self, hand: SessionHand) -> float:
        """Add a hand to the results, and return the person's chips in it with the luck removed."""
        result = self._results[hand.is_assisted]
        result.add(hand.kept.chips, hand.kept.score)
        return float(result.estimates()[-1])

    def _records(self) -> dict[str, Any]:
        return {"unaided": self._results[False].record(), "assisted": self._results[True].record()}

    def _show(self, view: dict[str, Any]) -> None:
        self._tell("view", {"type": "view", **view})

    def _refuse(self, page: int, reason: str) -> None:
        self._tell(f"error {page}", {"type": "error", "text": printable(reason)})


def _isolated(spec: str, isolation: Isolation):
    return isolate(spec, isolation.limits, isolation.log, isolation.sandbox)


def _title(rules: HoldemRules) -> str:
    """Return a game in a few words: blinds or antes, and stacks."""
    name = game_name(rules)
    posted = "/".join(f"{chips:,}" for chips in sorted({*rules.blinds} - {0}))
    blinds = f"{'blinds' if len({*rules.blinds}) > 1 else 'antes'} {posted}"
    stacks = f", stacks {rules.stacks[0]:,}" if rules.stacks else ""
    return f"{'' if '(' in name else f'{name}: '}{rules.num_seats} seats, {rules.betting}, {blinds}{stacks}"


def main(parent: str) -> None:
    """Serve a table until the input ends.

    Parameters
    ----------
    parent : str
        The id of the server's process, with which this process ends.
    """
    die_with(int(parent))
    close_to_others()
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # an agent's prints go to standard error
    orders: list[str] = []
    inbox: Inbox = Inbox()
    has_order = threading.Event()
    threading.Thread(target=_read, args=(source, orders, has_order, inbox), daemon=True).start()
    _warm_up()  # a spare process waits for its order and has nothing better to do
    has_order.wait()
    try:
        dealer = Dealer(Order.parsed(orders[0]), inbox, lambda kind, found: _print(sink, kind, found))
        while True:
            dealer.play_hand()
    except Exception as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        print("broken", printable(" ".join(reason.split()))[:600], file=sink, flush=True)
        os._exit(1)


def _read(source: BinaryIO, orders: list[str], has_order: threading.Event, inbox: Inbox) -> None:
    """Read the order and the moves; end this process when the input ends."""
    for line in source:
        if not orders:
            orders.append(line.decode())
            has_order.set()
        else:
            found = json.loads(line)
            inbox.put(Said(found["page"], Move(**found["move"])))
    os._exit(0)  # in the middle of a hand, too: the wardens of all agents end with this process


def _print(sink: TextIO, kind: str, found: dict[str, Any]) -> None:
    print(kind, json.dumps(found, allow_nan=False), file=sink, flush=True)


def _warm_up() -> None:
    """Load everything that the usual table needs, and play a hand that nobody sees."""
    rules = HUNL
    specs = [default_agent(rules)]
    agent_digest(specs[0])
    values = choose_values(rules)
    warmup_play([*specs, "tag"], rules)
    warmup_values(values, rules)
    with Opponents(specs, Limits(), None, Path(os.devnull)) as opponents:
        dealing = Dealing(Table(rules, (YOU, *specs), values), CallAgent(), opponents)
        seating = dealing.seating(1)
        hand = dealing.play(seating)
        hand_data(hand, seating, dealing.score(hand, seating), values, shows_strategies=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A decision in plain English, as a player would tell it, from the public state and the seat's own cards alone.

Every amount is in chips. A raise is given by the seat's total over the whole hand, as in the line protocol. For a raise
already made, the text also gives the chips that it added.
"""

from collections.abc import Sequence

from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.agents.base import PublicState

__all__ = ["situation_text"]


def situation_text(public: PublicState, seat: int, hole_cards: Sequence[int]) -> str:
    """Return a decision of `seat` in plain English, a few lines.

    Parameters
    ----------
    public : PublicState
        The state, in which `seat` is to act.
    hole_cards : sequence of int
        The cards of `seat`.
    """
    rules = public.rules
    names = [f"seat {k} ({position})" for k, position in enumerate(seat_positions(rules))]
    lines = [
        _table(rules, names, seat),
        f"Your hole cards: {_cards(hole_cards)}.",
        f"Street: {_street(rules, public.street)}. Board: {_cards(public.board) or 'no cards yet'}.",
        *_story(public, names, seat),
        _stakes(public, names, seat),
        _price(public),
        f"Legal actions: {_legal(public)}.",
    ]
    return "\n".join(lines)


def _table(rules: HoldemRules, names: list[str], seat: int) -> str:
    kind = "fixed-limit" if rules.is_limit else "no-limit"
    posted = ", ".join(f"{name} {blind}" for name, blind in zip(names, rules.blinds, strict=True) if blind)
    return f"You are {names[seat]} of {rules.num_seats} players in {kind} poker. Blinds: {posted}."


def _story(public: PublicState, names: list[str], seat: int) -> list[str]:
    """Return a line for each street with actions, from the first on."""
    rules = public.rules
    paid = list(rules.blinds)
    told: list[list[str]] = [[] for _ in range(public.street + 1)]
    highest, has_bet = max(paid), True  # the blinds are a bet
    street = 0
    for actor, action, when in public.actions:
        if when > street:
            street, has_bet = when, False
        who = "you" if actor == seat else names[actor]
        verb = "{}" if actor == seat else "{}s"
        if action == FOLD:
            told[when].append(f"{who} {verb.format('fold')}")
            continue
        before = paid[actor]
        stack = None if rules.stacks is None else rules.stacks[actor]
        if action > CALL:
            highest = action
        paid[actor] = highest if stack is None else min(highest, stack)
        added = paid[actor] - before
        end = " and is all-in" * (paid[actor] == stack)
        end = end.replace("is", "are") if actor == seat else end
        if action > CALL:
            what = verb.format("raise" if has_bet else "bet")
            told[when].append(f"{who} {what} to {action} ({added} more){end}")
            has_bet = True
        elif added:
            told[when].append(f"{who} {verb.format('call')} {added}{end}")
        else:
            told[when].append(f"{who} {verb.format('check')}")
    lines = [f"{_street(rules, k).capitalize()}: {', '.join(parts)}." for k, parts in enumerate(told) if parts]
    return lines or ["Nobody has acted yet."]


def _stakes(public: PublicState, names: list[str], seat: int) -> str:
    stacks = public.stacks
    parts = []
    for other, (name, chips, folded) in enumerate(zip(names, public.contributions, public.folded, strict=True)):
        who = "you" if other == seat else name
        left = "" if stacks is None else f", {stacks[other]} left"
        parts.append(f"{who} {chips} in{left}{' (folded)' if folded else ''}")
    return f"Pot: {public.pot}. Chips: {'; '.join(parts)}."


def _price(public: PublicState) -> str:
    if not public.to_call:
        return "To call: nothing, so you may check."
    odds = public.to_call / (public.pot + public.to_call)
    return f"To call: {public.to_call}, which is {100 * odds:.0f} % of the pot after your call."


def _legal(public: PublicState) -> str:
    parts = ["fold (f)"] if public.can_fold else []
    parts.append(f"call {public.to_call} (c)" if public.to_call else "check (c)")
    if public.menu is not None:
        parts += [f"raise to {chips} over the whole hand (r{chips})" for chips in public.menu]
    elif public.max_raise:
        low, high = public.min_raise, public.max_raise
        parts.append(f"raise to any total from {low} to {high} over the whole hand (r{low} to r{high})")
    return "; ".join(parts)


def _street(rules: HoldemRules, street: int) -> str:
    is_holdem = rules.board_cards == (0, 3, 1, 1)
    return STREETS[street] if is_holdem else f"street {street + 1}"


def _cards(cards: Sequence[int]) -> str:
    return " ".join(map(card_text, cards))

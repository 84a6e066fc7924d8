"""How the game at a table differs from the game of a betting tree."""

from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["check_game", "game_difference"]


def game_difference(rules: HoldemRules, tree_rules: HoldemRules) -> str:
    """Return in words how a game differs from the tree's game in seats, blinds and stacks; empty if it does not.

    Blinds and stacks are compared in big blinds. Of the stacks, only the smallest and the largest are compared.

    Raises
    ------
    ValueError
        If the game has more seats than the tree's game, or other cards.
    """
    check_game(rules, tree_rules)
    parts = []
    if tree_rules.num_seats != rules.num_seats:
        parts.append(
            f"trained for {tree_rules.num_seats} seats, plays {rules.num_seats} as if the other seats had folded"
        )
    if _blinds_text(tree_rules) != _blinds_text(rules):
        parts.append(f"trained with blinds of {_blinds_text(tree_rules)} bb, plays {_blinds_text(rules)}")
    if _depth_text(tree_rules) != _depth_text(rules):
        parts.append(f"trained for {_depth_text(tree_rules)}, plays {_depth_text(rules)} and scales bets to the pot")
    return "; ".join(parts)


def check_game(rules: HoldemRules, tree_rules: HoldemRules) -> None:
    """Raise ValueError if a game has more seats than the tree's game, or other cards."""
    if rules.num_seats > tree_rules.num_seats:
        seats = "2" if tree_rules.num_seats == 2 else f"2..{tree_rules.num_seats}"
        raise ValueError(f"the blueprint plays at tables of {seats} seats, got {rules.num_seats}")
    if _cards_text(rules) != _cards_text(tree_rules):
        raise ValueError(f"the blueprint plays with {_cards_text(tree_rules)}; got {_cards_text(rules)}")


def _cards_text(rules: HoldemRules) -> str:
    return (
        f"{rules.num_suits} suits of {rules.num_ranks} ranks, {rules.num_hole_cards} hole cards and "
        f"{' '.join(map(str, rules.board_cards))} board cards by street"
    )


def _blinds_text(rules: HoldemRules) -> str:
    return " ".join(f"{blind / rules.big_blind:g}" for blind in sorted(rules.blinds) if blind)


def _depth_text(rules: HoldemRules) -> str:
    if rules.stacks is None:
        return "limit"
    depths = [f"{stack / rules.big_blind:g}" for stack in (min(rules.stacks), max(rules.stacks))]
    return f"{'..'.join(dict.fromkeys(depths))} bb"

"""All histories of a small poker game, made from its betting tree and every deal, without OpenSpiel's states."""

import math
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, rules_array
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import MAX_HAND_CARDS, MAX_SEATS, HoldemRules
from plurispiel.abstraction.trees import _holdem_histories_kernels as kernels
from plurispiel.abstraction.trees.histories import CHANCE, TERMINAL, Histories

MAX_PUBLIC_NODES = 200_000


@dataclass(frozen=True, eq=False)
class PublicNodes:
    """The N public nodes of a game, breadth first: at each, a seat acts, a card is dealt or the hand ends.

    A node tells how many cards are dealt, but not which.

    Attributes
    ----------
    rules : HoldemRules
    player : int8[N]
        Seat to act, `CHANCE` where a card is dealt, or `TERMINAL`.
    first_child, num_children : int32[N]
        The children of node i are ``first_child[i] : first_child[i] + num_children[i]``. A node where a card is dealt
        has one child, which stands for every card.
    action : int32[N]
        OpenSpiel's action that leads into a node; -1 for the root and after a card.
    dealt : int32[N]
        Number of cards dealt before a node, to seats and board together.
    states : int64[N, STATE_SIZE]
        The betting state array of each node.
    num_open : int
        Number of histories at nodes that were found, but left out of the arrays. It is 0 unless the game has more than
        `MAX_PUBLIC_NODES` public nodes.
    """

    rules: HoldemRules
    player: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    action: np.ndarray
    dealt: np.ndarray
    states: np.ndarray
    num_open: int

    @property
    def complete(self) -> bool:
        """Whether the arrays hold all public nodes of the game."""
        return self.num_open == 0

    @property
    def num_histories(self) -> int:
        """`num_open` plus the number of histories at the nodes of the arrays.

        A node has one history for each sequence of cards that can be dealt before it. If `complete`, the game has this
        number of histories; otherwise the game has at least as many.
        """
        deck = len(self.rules.cards)
        counts = np.bincount(self.dealt)
        return self.num_open + sum(int(count) * math.perm(deck, dealt) for dealt, count in enumerate(counts))

    @property
    def num_infosets(self) -> int:
        """Sum, over the nodes where a seat acts, of `num_views` on the node's street.

        If `complete`, the game has this number of infosets; otherwise the game has at least as many.
        """
        return sum(num_views(self.rules, street) for street in self.states[self.player >= 0, betting.STREET].tolist())


def num_views(rules: HoldemRules, street: int) -> int:
    """Return how many pairs of hole cards and board a seat can see on a street; each street's cards are a set."""
    left = len(rules.cards)
    views = 1
    for cards in (rules.num_hole_cards, *rules.board_cards[: street + 1]):
        views *= math.comb(left, cards)
        left -= cards
    return views


def public_nodes(game: OpenSpielGame) -> PublicNodes:
    """Return the public nodes of a game.

    If the game has more than `MAX_PUBLIC_NODES`, at most this number of nodes is returned, and `complete` is False.
    """
    rules = game.rules
    states: list[list[int]] = [BettingState(rules).array.tolist()]
    player: list[int] = []
    first_child: list[int] = []
    num_children: list[int] = []
    action = [-1]
    dealt = [0]
    num_open = 0
    while len(player) < len(states) <= MAX_PUBLIC_NODES:
        number = len(player)
        state = states[number]
        wanted = _cards_wanted(rules, state)
        first_child.append(len(states))
        if dealt[number] < wanted:
            player.append(CHANCE)
            states.append(state)
            action.append(-1)
            dealt.append(dealt[number] + 1)
        elif state[betting.ACTOR] < 0:
            player.append(TERMINAL)
        else:
            player.append(state[betting.ACTOR])
            pairs, raises = _actions(game, state)
            few = raises[: max(0, MAX_PUBLIC_NODES + 1 - len(states))]  # a game may offer billions of raises
            num_open += (len(raises) - len(few)) * math.perm(len(rules.cards), dealt[number])
            for action_id, ours in [*pairs, *zip(few, few, strict=True)]:
                following = BettingState(rules, np.array(state))
                following.apply_legal(ours)
                states.append(following.array.tolist())
                action.append(action_id)
                dealt.append(dealt[number])
        num_children.append(len(states) - first_child[-1])
    size = len(player)
    num_open += sum(math.perm(len(rules.cards), count) for count in dealt[size:])
    return PublicNodes(
        rules,
        player=np.array(player, dtype=np.int8),
        first_child=np.array(first_child, dtype=np.int32),
        num_children=np.array(num_children, dtype=np.int32),
        action=np.array(action[:size], dtype=np.int32),
        dealt=np.array(dealt[:size], dtype=np.int32),
        states=np.array(states[:size], dtype=np.int64),
        num_open=num_open,
    )


def _cards_wanted(rules: HoldemRules, state: list[int]) -> int:
    """Return how many cards the next decision or showdown needs, hole cards included; 0 if all but one seat folded."""
    hole = rules.num_seats * rules.num_hole_cards
    if state[betting.NUM_LIVE] == 1:
        return 0  # won without a showdown: no more cards
    return hole + rules.board_size(state[betting.STREET])


def _actions(game: OpenSpielGame, state: list[int]) -> tuple[list[tuple[int, int]], range]:
    """Return the legal actions: pairs of OpenSpiel's and `BettingState`'s number, ascending, and a range of raises.

    If every size is on offer, the range holds all raises, which have the same numbers in OpenSpiel and in
    `BettingState`. Otherwise the range is empty, and the pairs hold the raises.
    """
    if (actions := game.actions(state)) is not None:
        return list(actions.items()), range(0)
    folds = [(FOLD, FOLD)] if state[betting.CAN_FOLD] else []
    lowest, highest = state[betting.MIN_RAISE], state[betting.MAX_RAISE]
    return [*folds, (CALL, CALL)], range(lowest, highest + 1) if highest else range(0)


def deal_histories(nodes: PublicNodes) -> Histories:
    """Return every history of a game: each of its public nodes with each sequence of cards; `nodes` must be `complete`.

    A label stands for the public node, the hole cards of the seat to act and the board, with each street's cards as a
    set. OpenSpiel's information states show the board as one set: with board cards on two or more streets, the
    information states forget on which street a card was dealt.
    """
    plan, num_labels = _plan(nodes)
    rules = nodes.rules
    node = np.zeros(1, dtype=np.int32)
    cards = np.zeros((1, rules.num_dealt_cards), dtype=np.uint8)
    action, chance = np.array([-1], dtype=np.int32), np.ones(1)
    deck = np.zeros(rules.num_dealt_cards, dtype=np.uint8)
    ranks, payoffs = np.zeros(MAX_SEATS, dtype=np.int64), np.zeros(rules.num_seats)
    levels: list[tuple[np.ndarray, ...]] = []
    rows: list[np.ndarray] = []
    num_rows = 0
    while len(node):
        num_children = np.where(nodes.player == CHANCE, len(rules.cards) - nodes.dealt, nodes.num_children)[node]
        label, outcome = np.empty(len(node), dtype=np.int32), np.empty(len(node), dtype=np.int64)
        kernels.name_level(plan, node, cards, deck, ranks, payoffs, label, outcome)
        ends = outcome >= 0
        # A terminal node's payoffs depend only on which hands beat which, so there are far fewer rows of payoffs than
        # terminal histories.
        outcomes, row_ids = np.unique(outcome[ends], return_inverse=True)
        payoff_id = np.full(len(node), -1, dtype=np.int32)
        payoff_id[ends] = num_rows + row_ids
        rows.append(np.empty((len(outcomes), rules.num_seats)))
        kernels.settle_outcomes(plan, outcomes, ranks, rows[-1])
        num_rows += len(outcomes)
        levels.append((num_children.astype(np.int32), nodes.player[node], action, chance, label, payoff_id))
        size = int(num_children.sum())
        child_node = np.empty(size, dtype=np.int32)
        child_cards = np.zeros((size, rules.num_dealt_cards), dtype=np.uint8)
        action, chance = np.empty(size, dtype=np.int32), np.empty(size)
        kernels.deal_level(plan, node, cards, child_node, child_cards, action, chance)
        node, cards = child_node, child_cards
    num_children, player, action, chance, label, payoff_id = map(np.concatenate, zip(*levels, strict=True))
    return Histories(
        num_children,
        player,
        action,
        chance,
        label,
        num_labels,
        payoff_id,
        payoffs=np.concatenate(rows),
        openspiel_recall=sum(cards > 0 for cards in rules.board_cards) <= 1,
    )


def _plan(nodes: PublicNodes) -> tuple[kernels.Plan, int]:
    """Return the kernels' plan and the number of labels."""
    rules = nodes.rules
    deck = len(rules.cards)
    choose = np.array([[math.comb(n, k) for k in range(MAX_HAND_CARDS + 1)] for n in range(deck + 1)], dtype=np.int64)
    num_labels = np.zeros(len(nodes.player) + 1, dtype=np.int64)
    for number in np.flatnonzero(nodes.player >= 0).tolist():
        street = nodes.states[number, betting.STREET]
        sets = (rules.num_hole_cards, *rules.board_cards[: street + 1])
        # Labels are counted as if the sets could share cards, so that each set is numbered by itself. Labels that never
        # occur get no infoset in `flatten`.
        num_labels[number + 1] = math.prod(math.comb(deck, count) for count in sets)
    first = np.cumsum(num_labels)
    plan = kernels.Plan(
        nodes.player,
        nodes.first_child,
        nodes.num_children,
        nodes.action,
        nodes.dealt,
        nodes.states,
        label_first=first[:-1].copy(),
        rules=rules_array(rules),
        cards=np.array(rules.cards),
        street_cards=np.array(rules.board_cards, dtype=np.int64),
        choose=choose,
        ranks=rank_tables(),
    )
    return plan, int(first[-1])


def warmup() -> None:
    """Compile every kernel that this module calls."""
    deal_histories(public_nodes(OpenSpielGame("kuhn_poker")))

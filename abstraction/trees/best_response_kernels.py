"""Kernels that compute expected payoffs and exact best responses on the flat game tree."""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def expect(nodes, strategy, reach, values):
    """Write every player's expected payoff when all players follow the strategy.

    Parameters
    ----------
    nodes : TreeNodes
    strategy : float64[num_actions]
    reach : float64[num_histories]
        Workspace: the probability of each history.
    values : float64[num_players]
        Modified in place.
    """
    num_players = nodes.payoffs.shape[1]
    for player in range(num_players):
        values[player] = 0.0
    reach[0] = 1.0
    for history in range(len(nodes.player)):
        first = nodes.first_child[history]
        actor = nodes.player[history]
        here = reach[history]
        if actor >= 0:
            offset = nodes.infoset_first[nodes.infoset[history]]
            for k in range(nodes.num_children[history]):
                reach[first + k] = here * strategy[offset + k]
        elif nodes.num_children[history] > 0:
            for child in range(first, first + nodes.num_children[history]):
                reach[child] = here * nodes.chance[child]
        else:
            row = nodes.payoff_id[history]
            for player in range(num_players):
                values[player] += here * nodes.payoffs[row, player]


@kernel
def respond(nodes, strategy, responder, reach, sequence, gains, choice):
    """Return the value of a player's best response to the others' strategies.

    A *sequence* is an action of the responder with all of the responder's earlier actions; its number is the offset of
    that action in a strategy. The payoff of each terminal history, times the reach of chance and the others, is added
    to the gain of the responder's last sequence there. Then the responder's infosets are visited by falling number:
    the largest gain among an infoset's actions is added to the gain of the sequence that leads to the infoset. Where no
    sequence of the responder leads to the terminal history or the infoset, the payoff or gain is added to the result
    instead.

    Parameters
    ----------
    nodes : TreeNodes
    strategy : float64[num_actions]
    responder : int
        The player.
    reach : float64[num_histories]
        Workspace: the reach of chance and the other players.
    sequence : int32[num_histories]
        Workspace: the responder's last sequence at each history; -1 before the responder's first action.
    gains : float64[num_actions]
        Workspace. Afterwards it holds the counterfactual value of each of the responder's actions, and 0 for other
        players' actions.
    choice : int32[num_infosets]
        Modified in place for the responder's infosets: the index of the best action within the infoset, the first
        among equals.
    """
    total = 0.0
    for action in range(len(gains)):
        gains[action] = 0.0
    reach[0] = 1.0
    sequence[0] = -1
    # Histories are numbered by depth, so a parent has written its children's reach before they are read.
    for history in range(len(nodes.player)):
        first = nodes.first_child[history]
        actor = nodes.player[history]
        here = reach[history]
        last = sequence[history]
        if actor == responder:
            offset = nodes.infoset_first[nodes.infoset[history]]
            for k in range(nodes.num_children[history]):
                reach[first + k] = here  # counterfactual: without the responder's own probabilities
                sequence[first + k] = offset + k
        elif actor >= 0:
            offset = nodes.infoset_first[nodes.infoset[history]]
            for k in range(nodes.num_children[history]):
                reach[first + k] = here * strategy[offset + k]
                sequence[first + k] = last
        elif nodes.num_children[history] > 0:
            for child in range(first, first + nodes.num_children[history]):
                reach[child] = here * nodes.chance[child]
                sequence[child] = last
        else:
            gain = here * nodes.payoffs[nodes.payoff_id[history], responder]
            if last >= 0:
                gains[last] += gain
            else:
                total += gain
    # An infoset has a higher number than the player's infosets that lead to it, so its gains are complete when the best
    # is chosen. A gain is a sum over all histories of the infoset: one choice per history would use hidden cards.
    for infoset in range(len(nodes.infoset_player) - 1, -1, -1):
        if nodes.infoset_player[infoset] != responder:
            continue
        best = nodes.infoset_first[infoset]
        for action in range(best + 1, nodes.infoset_first[infoset + 1]):
            if gains[action] > gains[best]:
                best = action
        choice[infoset] = best - nodes.infoset_first[infoset]
        before = nodes.infoset_parent[infoset]
        if before >= 0:
            gains[before] += gains[best]
        else:
            total += gains[best]
    return total

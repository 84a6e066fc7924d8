"""Best response by its definition, on OpenSpiel's states."""

from collections import defaultdict


def expected_values(state, policy):
    """Return every player's expected payoff; `policy(state)` returns {action: probability}."""
    if state.is_terminal():
        return state.returns()
    chances = state.chance_outcomes() if state.is_chance_node() else policy(state).items()
    below = [(chance, expected_values(state.child(action), policy)) for action, chance in chances if chance]
    return [sum(chance * values[player] for chance, values in below) for player in range(state.num_players())]


def best_response_value(game, policy, player, key=lambda state: state.information_state_string()):
    """Return the most a player can get against the others' policy, choosing one action for each information state.

    For an information state I, the best action maximises the sum over its histories h of
    ``reach(h) * value(h, a)``, where reach is the probability that chance and the others contribute.
    """
    members = defaultdict(list)

    def outcomes(state):
        return state.chance_outcomes() if state.is_chance_node() else policy(state).items()

    def collect(state, reach):
        if state.is_terminal():
            return
        if state.current_player() == player:
            members[key(state)].append((state, reach))
            for action in state.legal_actions():
                collect(state.child(action), reach)
        else:
            for action, chance in outcomes(state):
                collect(state.child(action), reach * chance)

    best = {}

    def best_action(name):
        if name not in best:
            actions = members[name][0][0].legal_actions()
            worth = [sum(reach * value(state.child(action)) for state, reach in members[name]) for action in actions]
            best[name] = actions[worth.index(max(worth))]
        return best[name]

    def value(state):
        if state.is_terminal():
            return state.returns()[player]
        if state.current_player() == player:
            return value(state.child(best_action(key(state))))
        return sum(chance * value(state.child(action)) for action, chance in outcomes(state) if chance)

    collect(game.new_initial_state(), 1.0)
    return value(game.new_initial_state())


def nash_conv(game, policy):
    """Return the sum over players of what each gains by its best response."""
    values = expected_values(game.new_initial_state(), policy)
    return sum(best_response_value(game, policy, player) - values[player] for player in range(game.num_players()))

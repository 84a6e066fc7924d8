"""The CFR family on OpenSpiel's states, each rule as its paper prints it.

Zinkevich et al. 2007 (CFR), Tammelin 2014 (CFR+), Brown and Sandholm 2019 (LCFR, DCFR), Farina, Kroer and Sandholm
2021 (PCFR+), Moravcik et al. 2017 (the hybrid), Lanctot et al. 2009 (external sampling).
"""

from collections import defaultdict


def cfr(regret, gain, t):
    return regret + gain


def cfr_plus(regret, gain, t):
    return max(regret + gain, 0.0)


def linear(regret, gain, t):
    return regret + t * gain


def discounted(alpha, beta):
    def rule(regret, gain, t):
        regret += gain
        exponent = alpha if regret > 0.0 else beta
        return regret * t**exponent / (t**exponent + 1.0)

    return rule


def match(regrets):
    positive = {action: max(regret, 0.0) for action, regret in regrets.items()}
    total = sum(positive.values())
    return {action: p / total if total > 0.0 else 1.0 / len(regrets) for action, p in positive.items()}


class CFR:
    """Tables by (player, information state): {action: number}."""

    def __init__(self, game, rule, weight, *, simultaneous=False, predictive=False):
        self.game = game
        self.rule = rule
        self.weight = weight  # of iteration t in the average
        self.simultaneous = simultaneous
        self.predictive = predictive
        self.regrets = {}
        self.strategy = {}
        self.sums = {}
        self._prepare(game.new_initial_state())

    def _prepare(self, state):
        if state.is_terminal():
            return
        if not state.is_chance_node():
            key = (state.current_player(), state.information_state_string())
            zeros = dict.fromkeys(state.legal_actions(), 0.0)
            self.regrets[key], self.sums[key], self.strategy[key] = dict(zeros), dict(zeros), match(zeros)
        for action in state.legal_actions():
            self._prepare(state.child(action))

    def run(self, iterations):
        players = range(self.game.num_players())
        for t in range(1, iterations + 1):
            learnt = []
            for player in players:
                gains = defaultdict(lambda: defaultdict(float))
                self._walk(self.game.new_initial_state(), player, [1.0] * len(players), 1.0, gains, t, set())
                learnt.append((player, gains))
                if not self.simultaneous:
                    self._learn(*learnt.pop(), t)
            for player, gains in learnt:
                self._learn(player, gains, t)

    def _walk(self, state, player, reach, chance, gains, t, seen):
        """Return the player's expected payoff; collect its counterfactual regrets and add its strategy to the sums."""
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            return sum(
                p * self._walk(state.child(a), player, reach, chance * p, gains, t, seen)
                for a, p in state.chance_outcomes()
            )
        actor = state.current_player()
        key = (actor, state.information_state_string())
        values = {}
        for action, probability in self.strategy[key].items():
            further = list(reach)
            further[actor] *= probability
            values[action] = self._walk(state.child(action), player, further, chance, gains, t, seen)
        value = sum(probability * values[action] for action, probability in self.strategy[key].items())
        if actor == player:
            others = chance
            for other, probability in enumerate(reach):
                if other != player:
                    others *= probability
            for action in values:
                gains[key][action] += others * (values[action] - value)
            if key not in seen:  # the own reach is the same at all histories of an information state
                seen.add(key)
                for action, probability in self.strategy[key].items():
                    self.sums[key][action] += self.weight(t) * reach[player] * probability
        return value

    def _learn(self, player, gains, t):
        for key, gain in gains.items():
            regrets = self.regrets[key]
            for action in regrets:
                regrets[action] = self.rule(regrets[action], gain[action], t)
            if self.predictive:
                self.strategy[key] = match({action: max(regrets[action] + gain[action], 0.0) for action in regrets})
            else:
                self.strategy[key] = match(regrets)

    def average(self):
        return {key: match(sums) for key, sums in self.sums.items()}


class ExternalSampling:
    """`draw()` returns the next random number in [0, 1)."""

    def __init__(self, game, weight, draw):
        self.game = game
        self.weight = weight
        self.draw = draw
        self.regrets = defaultdict(lambda: defaultdict(float))
        self.sums = defaultdict(lambda: defaultdict(float))

    def run(self, iterations):
        players = range(self.game.num_players())
        for t in range(1, iterations + 1):
            for player in players:
                self._traverse(self.game.new_initial_state(), player, self.weight(t))
            if len(players) > 2:
                for player in players:
                    self._average(self.game.new_initial_state(), player, self.weight(t))

    def _strategy(self, state):
        regrets = self.regrets[state.current_player(), state.information_state_string()]
        return match({action: regrets[action] for action in state.legal_actions()})

    def _sampled(self, outcomes):
        threshold = self.draw()
        for action, probability in outcomes:
            threshold -= probability
            if threshold < 0.0:
                return action
        return outcomes[-1][0]

    def _add(self, state, strategy, weight):
        for action, probability in strategy.items():
            self.sums[state.current_player(), state.information_state_string()][action] += weight * probability

    def _traverse(self, state, player, weight):
        if state.is_terminal():
            return state.returns()[player]
        if state.is_chance_node():
            return self._traverse(state.child(self._sampled(state.chance_outcomes())), player, weight)
        strategy = self._strategy(state)
        if state.current_player() != player:
            if self.game.num_players() == 2:
                self._add(state, strategy, weight)
            return self._traverse(state.child(self._sampled(list(strategy.items()))), player, weight)
        values = {action: self._traverse(state.child(action), player, weight) for action in strategy}
        value = sum(strategy[action] * values[action] for action in strategy)
        for action in strategy:
            self.regrets[player, state.information_state_string()][action] += weight * (values[action] - value)
        return value

    def _average(self, state, player, weight):
        """Walk every action of the others, and sampled ones of the player, last branches last."""
        waiting = [state]
        while waiting:
            state = waiting.pop()
            while not state.is_terminal():
                if state.is_chance_node():
                    state = state.child(self._sampled(state.chance_outcomes()))
                    continue
                if state.current_player() == player:
                    strategy = self._strategy(state)
                    self._add(state, strategy, weight)
                    state = state.child(self._sampled(list(strategy.items())))
                    continue
                first, *others = state.legal_actions()
                waiting.extend(state.child(action) for action in others)
                state = state.child(first)

    def average(self):
        return {key: match(sums) for key, sums in self.sums.items()}

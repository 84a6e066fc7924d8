"""The layout `compact` of an observation, from a public state and its history, entry by entry as it is described."""

from plurispiel.abstraction.holdem.betting import BettingState


def compact(rules, deck, actions, seat):
    """The observation of a seat after some actions."""
    state, events = BettingState(rules), []
    before = [0] * rules.num_seats
    for action in actions:
        street, contributions, actor = state.street, state.contributions, state.actor
        pot = sum(contributions) + max(contributions) - contributions[actor]
        share = max(action - max(contributions), 0) / pot
        row = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, share / (1.0 + share)])[min(action, 2)]
        events.append((street, row))
        state.apply(action)
        if state.street != street:
            before = list(state.contributions)
    limit = rules.raise_sizes is not None
    if limit:
        scale = rules.big_blind + sum(n * chips for n, chips in zip(rules.max_raises, rules.raise_sizes, strict=True))
    else:
        scale = max(rules.stacks)
    index = {card: place for place, card in enumerate(rules.cards.tolist())}
    num_hole, num_seats = rules.num_hole_cards, rules.num_seats

    def bits(cards):
        return [float(place in {index[card] for card in cards}) for place in range(len(index))]

    order = [(seat + k) % num_seats for k in range(num_seats)]
    live = num_seats - sum(state.folded)
    shown = rules.num_board_cards if state.is_over and live > 1 else rules.board_size(state.street)
    board = deck[num_seats * num_hole :][:shown]
    out = [float(k == seat) for k in range(num_seats)]
    out += [float(k == state.street) for k in range(rules.num_streets)]
    out += bits(deck[seat * num_hole : (seat + 1) * num_hole])
    start = 0
    for cards in rules.board_cards:
        if cards:
            out += bits(board[start : start + cards])
            start += cards
    paid = state.contributions
    out += [0.0 if limit else (rules.stacks[k] - paid[k]) / scale for k in order]
    out += [(paid[k] - before[k]) / scale for k in order]
    out += [float(state.folded[k]) for k in order]
    to_call = 0.0 if state.is_over else max(paid) - paid[seat]
    if not limit and not state.is_over:
        to_call = min(max(paid), rules.stacks[seat]) - paid[seat]
    out += [sum(paid) / scale / num_seats, to_call / scale]
    for street in range(rules.num_streets):
        last = [row for at, row in events if at == street][-3 * num_seats :]
        out += [number for row in last for number in row] + [0.0] * 3 * (3 * num_seats - len(last))
    return out

"""Lines of betting against a betting state that is played along."""

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import SIXMAX
from plurispiel.agents.base import Action
from plurispiel.evaluation import betting_lines
from plurispiel.evaluation.betting_lines import BettingLines


def hand_actions(actions):
    state, taken = BettingState(SIXMAX), []
    for action in actions:
        taken.append(Action(state.actor, action, state.street))
        state.apply(action)
    return tuple(taken)


def test_lines_hold_actions_and_states_and_are_found_again(monkeypatch):
    lines = BettingLines(SIXMAX)
    actions = hand_actions((FOLD, 250, FOLD, FOLD, CALL, CALL, CALL, 500))
    found = lines.along(actions)
    state = BettingState(SIXMAX)
    for number, line in enumerate(found):
        assert line.actions == actions[:number]
        assert line.state == state.array.tolist()
        if number < len(actions):
            state.apply(actions[number].action)
    assert lines.along(actions[:3])[3] is found[3]
    assert lines.after(found[3], FOLD) is found[4]
    assert lines.after(found[3], CALL).actions == hand_actions((FOLD, 250, FOLD, CALL))
    monkeypatch.setattr(betting_lines, "_MAX_LINES", 5)
    again = lines.along(actions)
    assert again[3] is not found[3] and again[-1].state == found[-1].state

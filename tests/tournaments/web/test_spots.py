"""The spot explorer's desks over HTTP: solutions equal the command's, processes end, and what is refused."""

import json
import os
import time
import tomllib

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from desk_client import opened_desk  # noqa: E402
from web_server import RawClient, served  # noqa: E402

from plurispiel.abstraction.holdem.ranges import parse_range  # noqa: E402
from plurispiel.abstraction.machine.memory import anonymous_bytes  # noqa: E402
from plurispiel.agents.resolve import vector_cfr  # noqa: E402
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot  # noqa: E402
from plurispiel.tournaments import cli  # noqa: E402
from plurispiel.tournaments.web import spots  # noqa: E402

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SMALL = {
    "board": "Td 9d 6h Qc",
    "pot": 100,
    "stacks": 150,
    "oop": "AdKd,9c9h,JTs,T9s,87s:0.5",
    "ip": "QdJd,88,AcKs,KTs",
    "bets": {"turn": {"bet": "50%", "raise": "allin"}, "river": {"bet": "50%"}},
    "solve": {"target_pct": 0.5},
}
WIDE = " ".join(f"{size}%" for size in range(10, 80, 10)) + " allin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spots")


@pytest.fixture(scope="module")
def server(folder):
    vector_cfr.prepare()  # compiled here, so that no page waits for it
    with served(folder) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return RawClient(server).enter()


@pytest.fixture(scope="module")
def desk(client):
    with opened_desk(client) as desk:
        yield desk


def solved(desk, spot):
    desk.ask("solve", spot=spot)
    return desk.hear("solved")


def of_the_command(capsys, name, *words):
    assert cli.main(["spot", str(name), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_river_is_that_of_the_command(desk, capsys):
    spot = desk.ask("open", name="river", kind="example")["spot"]
    found = solved(desk, spot)
    for node in ("", "c b50%"):
        known = of_the_command(capsys, "river", *(["--node", node] if node else []))
        view = desk.ask("look", node=node)
        for key in ("ev", "equity", "exploitability_pct", "iterations"):
            assert found[key] == pytest.approx(known[key], abs=1e-9)
        seat = ("oop", "ip").index(view["player"])
        strategy = {
            hand: row
            for hand, row, weight in zip(view["combos"], view["strategy"], view["weight"], strict=True)
            if weight[seat]
        }
        assert [each["word"] for each in view["actions"]] == known["strategy"]["actions"]
        assert strategy.keys() == known["strategy"]["combos"].keys()
        for hand, row in known["strategy"]["combos"].items():
            assert strategy[hand] == pytest.approx(row, abs=1e-9)
        for number, player in enumerate(("oop", "ip")):
            values = {
                hand: row[number]
                for hand, row in zip(view["combos"], view["ev"], strict=True)
                if row[number] is not None
            }
            assert values == pytest.approx(known["combo_ev"][player], abs=1e-9)


def test_size_and_problems_are_told_before_solving(desk):
    found = desk.ask("check", spot=SMALL)
    assert [name for name, _ in found["nodes"]] == ["turn", "river"] and found["problem"] == ""
    assert 0 < found["memory"] < found["available"]
    assert tomllib.loads(found["toml"]) == SMALL
    deep = SMALL | {"board": "Td 9d 6h", "stacks": 9000}
    for street in ("flop", "turn", "river"):
        bets = {each: {"bet": "50%"} for each in ("flop", "turn", "river")} | {street: {"bet": WIDE, "raise": WIDE}}
        problem = desk.ask("check", spot=deep | {"bets": bets})["problem"]
        assert "more than 30,000 betting nodes" in problem and problem.endswith(f"sizes or raises on the {street}")
        locked = deep | {"bets": bets, "lock": {"": {"nothing": ""}}}
        assert desk.ask("check", spot=locked)["problem"] == problem  # no larger tree is built for the lock
    assert "lock '' must be a table" in desk.ask("check", spot=SMALL | {"lock": {"": "c"}})["problem"]
    assert "more than 8 sizes" in desk.ask("check", spot=SMALL | {"bets": {"turn": {"bet": f"{WIDE} 90%"}}})["problem"]
    for wrong, words in (
        ({"board": "Td 9d"}, "3 to 5 cards"),
        ({"oop": "XX"}, "oop: a range is written like"),
        ({"pot": "x"}, "pot must be whole chips"),
        ({"extra": 1}, "got 'extra'"),
        ({"middle": "AA", "board": "Td 9d 6h Qc 7s", "pot": 90}, "spots of two players"),
    ):
        assert words in desk.ask("check", spot=SMALL | wrong)["problem"]
    assert "30,000" in desk.ask("solve", 400, spot=deep | {"bets": bets})["error"]


def test_ranges_are_read_and_written(desk):
    weights = desk.ask("read_range", text="QQ+,AKs:0.5")["weights"]
    assert desk.ask("write_range", weights=weights)["text"] == "QQ+,AKs:0.5"
    assert "1,326 weights" in desk.ask("write_range", 400, weights=[1])["error"]
    assert "a range is written like" in desk.ask("read_range", text="QQ!")["problem"]


def test_what_a_blueprint_raises_first_in(desk):
    first = desk.ask("preflop", blueprint="headsup-refined", line=[])
    raises = parse_range(first["raises"])
    assert raises.sum() / 1326 == pytest.approx(
        sum(share for word, share in zip(first["actions"], first["frequencies"], strict=True) if word[0] == "r"),
        abs=1e-4,
    )
    flop = desk.ask("preflop", blueprint="headsup-refined", line=["r250", "c"])
    assert flop["players"] == [0, 1] and sum(flop["contributions"]) == 500
    assert "the blueprints are headsup-refined" in desk.ask("preflop", 400, blueprint="/etc", line=[])["error"]


def test_a_turn_is_walked_card_by_card(desk):
    solved(desk, SMALL)
    view = desk.ask("look", node="c")
    assert [each["next"] for each in view["actions"]] == ["cards", "decision"]
    assert view["path"] == [{"node": "", "word": "c", "text": "check", "player": "oop"}]
    desk.ask("cards", node="c", word="c")
    found = [desk.hear("card") for _ in range(48)]
    assert len({each["card"] for each in found}) == 48
    behind = desk.ask("look", node="c c 2s")
    assert behind["lock"] == "c c *" and behind["board"] == "Td9d6hQc2s"
    assert [step["player"] for step in behind["path"]] == ["oop", "ip", ""]
    two = next(each for each in found if each["card"] == "2s")
    pairs, ev = (np.array(behind[key], np.float64)[:, 0] for key in ("pairs", "ev"))
    assert two["ev"][0] == pytest.approx(np.nansum(pairs * ev) / np.nansum(pairs), abs=0.01)
    assert [each["next"] for each in desk.ask("look", node="c b50%")["actions"]] == ["fold", "cards", "decision"]
    assert "the actions are" in desk.ask("look", 400, node="x")["error"]


def test_a_lock_of_what_is_shown_keeps_it(desk):
    solved(desk, SMALL)
    view = desk.ask("look", node="c")
    rows = [row if None not in row else [-1.0] * len(row) for row in view["strategy"]]
    found = desk.ask("lock", node="c", probabilities=[share for row in rows for share in row])
    assert found["name"] == "c" and "hands" not in found["lock"]
    solved(desk, SMALL | {"lock": {"c": found["lock"]}})
    again = desk.ask("look", node="c")
    assert again["locked"] and not desk.ask("look", node="")["locked"]
    for row, known in zip(again["strategy"], rows, strict=True):
        if known[0] >= 0:
            assert row == pytest.approx(known, abs=2e-6)
    some = [row if hand[0] == "K" else [-1.0] * len(row) for hand, row in zip(view["combos"], rows, strict=True)]
    found = desk.ask("lock", node="c", probabilities=[share for row in some for share in row])
    assert found["lock"]["hands"] == "KcTc,KhTh,KsTs"
    solved(desk, SMALL | {"lock": {"c": found["lock"]}})
    assert desk.ask("look", node="c")["locked"]
    assert "no hand is locked" in desk.ask("lock", 400, node="c", probabilities=[-1.0] * len(rows) * 2)["error"]
    assert "the node has" in desk.ask("lock", 400, node="c", probabilities=[0.5])["error"]


def test_a_spot_without_bets_is_checked_down(desk):
    found = solved(desk, SMALL | {"bets": {}})
    assert found["ev"][0] == pytest.approx(100 * found["equity"][0], abs=1e-6)
    assert [each["text"] for each in desk.ask("look", node="")["actions"]] == ["check"]


def test_solutions_are_saved_listed_and_opened(desk, folder):
    before = solved(desk, SMALL)
    desk.ask("save", name="a turn")
    assert "choose another name" in desk.ask("save", 400, name="a turn")["error"]
    for name in ("../x", "a/b", ".x", ""):
        assert "error" in desk.ask("save", 400, name=name)
    (folder / "mine.toml").write_text((EXAMPLES / "river-spot.toml").read_text())
    (folder / "other.toml").write_text("x = 1")
    files = {(each["kind"], each["name"]) for each in desk.ask("listed")["files"]}
    assert {("solution", "a turn"), ("file", "mine.toml"), ("example", "turn")} <= files
    assert ("file", "other.toml") not in files and ("example", "three-way-river") not in files
    opened = desk.ask("open", name="a turn", kind="solution")["spot"]
    assert opened["board"] == SMALL["board"] and opened["bets"] == SMALL["bets"]
    after = desk.hear("solved")
    assert after["ev"] == before["ev"] and not after["can_go_on"]
    assert "cannot go on" in wait_for_failure(desk)
    assert "there is no solution" in desk.ask("open", 400, name="../a turn", kind="solution")["error"]


def wait_for_failure(desk):
    desk.ask("go_on", target_pct=0.1)
    while (event := json.loads(desk._socket.recv(timeout=60)))["type"] != "failed":
        pass
    return event["text"]


def test_a_hand_is_played_and_its_lost_ev_is_that_of_the_node(desk):
    solved(desk, SMALL)
    seen = set()
    for number in range(12):
        hand = desk.ask("deal", seat=("oop", "ip")[number % 2])
        while hand["actions"]:
            assert hand["end"] is None
            hand = desk.ask("act", word=hand["actions"][number % len(hand["actions"])]["word"])
        assert "the hand is over" in desk.ask("act", 400, word="c")["error"]
        seen.add(hand["end"]["folded"])
        seat = ("oop", "ip").index(hand["seat"])
        for decision in hand["decisions"]:
            view = desk.ask("look", node=decision["node"])
            row = view["combos"].index(hand["hand"])
            assert decision["ev"] == view["action_ev"][row]
            words = [each["word"] for each in view["actions"]]
            taken = decision["ev"][words.index(decision["word"])]
            assert decision["lost"] == pytest.approx(max(decision["ev"]) - taken) and decision["lost"] >= 0.0
            assert view["weight"][row][seat] > 0
        assert -150 <= hand["end"]["won"] <= 250 and len(hand["board"]) in (8, 10)
    assert len(seen) > 1


def test_a_turn_stops_within_a_second_and_its_memory_comes_back_with_the_page(client, server):
    spot, _ = read_spot(EXAMPLES / "turn.toml")
    table = {"board": spot.board, "pot": 100, "stacks": 950, "oop": "random", "ip": "random", "bets": dict(spot.bets)}
    with opened_desk(client) as desk:
        process = server.pages.spots.desks[desk.name].pid
        desk.ask("solve", spot=table | {"solve": {"target_pct": 1e-6}})
        seconds = []
        for _ in range(3):
            before = desk.hear("progress")["iterations"]
            began = time.perf_counter()
            desk.ask("stop")
            found = desk.hear("solved")
            seconds.append(time.perf_counter() - began)
            assert found["stopped"] and found["can_go_on"] and found["iterations"] >= before
            assert desk.ask("look", node="")["player"] == "oop"
            desk.ask("go_on", target_pct=1e-6)
        assert min(seconds) < 1.0
        assert desk.hear("progress")["iterations"] > found["iterations"]
        assert anonymous_bytes(process) > 44e6
        began = time.perf_counter()
    while is_alive(process) and time.perf_counter() - began < 5.0:
        time.sleep(0.01)
    assert time.perf_counter() - began < 1.0
    assert anonymous_bytes(process) == 0
    assert "the desk is gone" in desk.ask("look", 400, node="")["error"]


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_third_desk_and_frames_are_refused(client, desk):
    with opened_desk(client), client.open_socket(path="/desk") as third:
        third.send("{}")
        with pytest.raises(Exception, match="2 explorers are open"):
            third.recv(timeout=20)
    with client.open_socket(path="/desk") as socket:
        socket.send('{"x": 1}')
        with pytest.raises(Exception, match="4400"):
            socket.recv(timeout=20)


@pytest.mark.parametrize(
    "kind, fields",
    [
        ("look", {}),
        ("look", {"node": "x" * 513}),
        ("look", {"node": 1}),
        ("go_on", {"target_pct": 0}),
        ("go_on", {"target_pct": "1"}),
        ("write_range", {"weights": [2.0]}),
        ("write_range", {"weights": [0.0] * 1327}),
        ("lock", {"node": "", "probabilities": [-2]}),
        ("preflop", {"blueprint": "headsup-refined", "line": ["c"] * 65}),
        ("solve", {"spot": []}),
        ("check", {"spot": {}, "more": 1}),
        ("deal", {"seat": "both"}),
    ],
)
def test_requests_of_another_form_are_refused(desk, kind, fields):
    assert desk.ask(kind, 400, **fields)["error"]


def test_every_request_is_a_method_of_the_desk():
    from plurispiel.tournaments.web.solver_process import KINDS

    assert sorted(KINDS) == sorted(spots._REQUESTS)

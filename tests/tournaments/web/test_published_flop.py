"""A flop that other solvers have published, through the explorer's server.

The spot and the values are those of the test ``solve_pio_preset_normal`` of postflop-solver (github.com/b-inary), which
its author has verified with PioSOLVER.
"""

import json
import os

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from desk_client import opened_desk  # noqa: E402
from web_server import RawClient, served  # noqa: E402

from plurispiel.agents.spots.spot_file import spot_of_table, spot_toml  # noqa: E402
from plurispiel.tournaments import cli  # noqa: E402

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.slow,
]

SPOT = {
    "board": "Qs Jh 2h",
    "pot": 180,
    "stacks": 910,
    "oop": "88+,A8s+,A5s-A2s:0.5,AJo+,ATo:0.75,K9s+,KQo,KJo:0.75,KTo:0.25,Q9s+,QJo:0.5,J8s+,JTo:0.25,T8s+,T7s:0.45,"
    "97s+,96s:0.45,87s,86s:0.75,85s:0.45,75s+:0.75,74s:0.45,65s:0.75,64s:0.5,63s:0.45,54s:0.75,53s:0.5,52s:0.45,43s:0.5,"
    "42s:0.45,32s:0.45",
    "ip": "AA:0.25,99-22,AJs-A2s,AQo-A8o,K2s+,K9o+,Q2s+,Q9o+,J6s+,J9o+,T6s+,T9o,96s+,95s:0.5,98o,86s+,85s:0.5,75s+,"
    "74s:0.5,64s+,63s:0.5,54s,53s:0.5,43s",
    "bets": {
        "flop": {"bet": "52%", "raise": "45%"},
        "turn": {"bet": "55%", "raise": "45%"},
        "river": {"bet": "70%", "raise": "45%"},
    },
    "solve": {"target_pct": 20},
}


def test_page_command_and_publication_agree(tmp_path, capsys):
    spot, settings = spot_of_table(SPOT)
    (tmp_path / "flop.toml").write_text(spot_toml(spot, settings))
    assert cli.main(["spot", str(tmp_path / "flop.toml"), "--json"]) == 0
    known = json.loads(capsys.readouterr().out)
    with served(tmp_path) as server, opened_desk(RawClient(server).enter()) as desk:
        opened = desk.ask("open", name="flop.toml", kind="file")["spot"]
        desk.ask("solve", spot=opened)
        found = desk.hear("solved", patience=3600)
        for key in ("ev", "equity", "exploitability_pct", "iterations"):
            assert found[key] == pytest.approx(known[key], abs=1e-9)
        print(found)
        desk.ask("go_on", target_pct=0.1)
        found = desk.hear("solved", patience=3600)
        print(found)
    assert found["exploitability_pct"] <= 0.1
    assert found["equity"] == pytest.approx([0.55347, 0.44653], abs=1e-5)
    assert found["ev"] == pytest.approx([105.11, 74.89], abs=0.2)

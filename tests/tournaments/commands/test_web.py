"""`plurispiel web` as a process, and the file that opens the browser."""

import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
import webbrowser

import pytest

from plurispiel.tournaments import cli


def test_a_missing_extra_and_wrong_options_are_named(tmp_path, capsys, monkeypatch):
    assert cli.main(["web", "--no-open", "--folder", str(tmp_path / "none")]) == 2
    monkeypatch.delitem(sys.modules, "plurispiel.tournaments.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert cli.main(["web", "--no-open"]) == 2
    assert 'pip install "plurispiel[web]"' in capsys.readouterr().err


def test_the_server_ends_by_an_interrupt(tmp_path):
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "web", "--no-open", "--folder", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            server, _, token = address.partition("/enter#token=")
            assert server.startswith("http://127.0.0.1:") and len(token) == 43
            with urllib.request.urlopen(server, timeout=10) as answer:
                assert answer.status == 200
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                urllib.request.urlopen(f"{server}/api/runs", timeout=10)
            refused.value.close()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode in (130, -signal.SIGINT)
    assert out == "" and "Traceback" not in err
    assert "plurispiel web: " in err


def test_the_browser_is_opened_on_a_private_file(monkeypatch):
    pytest.importorskip("uvicorn")
    from plurispiel.tournaments.web.server import browser_opened

    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with browser_opened("http://127.0.0.1:1/enter#token=secret") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert 'content="0;url=http://127.0.0.1:1/enter#token=secret"' in path.read_text()
    assert not path.exists()
    assert "secret" not in str(opened)

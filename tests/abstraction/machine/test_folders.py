"""The user's folder."""

import sys

import pytest

from plurispiel.abstraction.machine.folders import user_data_folder

pytestmark = pytest.mark.usefixtures("home")


def test_runs_are_kept_where_the_user_says(monkeypatch, tmp_path):
    assert user_data_folder() == tmp_path / "home"
    monkeypatch.delenv("PLURISPIEL_HOME")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_DATA_HOME", "/x")
        assert str(user_data_folder()) == "/x/plurispiel"

"""A mixed cluster, whose machines may differ in the last digits, leaves no trace in stored results that are exact."""

from types import SimpleNamespace

import numpy as np
import pytest

from plurispiel.tournaments.api import flop_exploitability as api
from plurispiel.tournaments.api.spot_sweep import make_conduct
from plurispiel.tournaments.run.value_data import solve_situations

MIXED = SimpleNamespace(is_mixed=True, slots=1)


def test_data_sets_and_sweeps_refuse_a_mixed_cluster(tmp_path):
    with pytest.raises(ValueError, match="data sets keep no note of that; start the cluster without --mixed"):
        solve_situations(tmp_path, None, {}, 1, print, labour=MIXED)
    with pytest.raises(ValueError, match="the tables of a sweep keep no note"):
        make_conduct(1, None, False, print, MIXED)


def test_values_of_flops_from_a_mixed_cluster_have_a_folder_of_their_own(monkeypatch):
    monkeypatch.setattr(api, "tree_digest", lambda tree: "tree")
    strategy = SimpleNamespace(digest="digest", tree=None, defence=0.0)
    assert api._folder(None, strategy, np.float64, False) != api._folder(None, strategy, np.float64, True)
    assert api._folder(None, SimpleNamespace(digest=""), np.float64, True) is None

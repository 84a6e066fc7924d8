"""The code that an agent plays by: all that it imports, and nothing else."""

import sys

import pytest

from plurispiel.agents import own_code
from plurispiel.agents.own_code import imported_modules, own_code_digest


def test_an_agent_imports_its_algorithm():
    modules = imported_modules("plurispiel.agents.search.agent")
    for name in ("search.multiway", "resolve.vector_cfr_kernels", "blueprint.agent", "baselines.tight_aggressive"):
        assert f"plurispiel.agents.{name}" in modules
    assert "plurispiel.abstraction.holdem.betting" in modules
    assert not any(name.startswith(("plurispiel.tournaments", "plurispiel.evaluation")) for name in modules)


def test_simple_agents_do_not_change_with_search():
    names = imported_modules("plurispiel.agents.baselines.tight_aggressive")
    assert "plurispiel.agents.base" in names and not any(".search" in name or ".blueprint" in name for name in names)


def test_all_that_an_import_loads_is_found():
    """Python itself loads no module of the agents' code that is not found, but for the packages around them."""
    loaded = {name for name in sys.modules if name.startswith("plurispiel.a")}
    start = "plurispiel.agents.search.agent"
    __import__(start)
    new = {name for name in sys.modules if name.startswith("plurispiel.a")} - loaded
    packages = {name for name in new if hasattr(sys.modules[name], "__path__")}
    assert new - packages <= set(imported_modules(start))


def test_agents_have_digests_of_their_own():
    names = "call", "tag", "equity", "blueprint", "search", "continual", "tabular:x"
    assert len({own_code_digest(name) for name in names}) == len(names)
    assert own_code_digest("blueprint") == own_code_digest("blueprint:headsup-refined")
    assert own_code_digest("my_bot.py:Bot") == own_code_digest("stdio:./bot") == ""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("return 1", "return 2", True),
        ("one.", "uno.", False),  # docstrings
        ("The two", "The second", False),
        ("[3, 4]", "[3, 5]", True),  # the table of numbers
    ],
)
def test_a_change_of_the_code_changes_the_digest(tmp_path, monkeypatch, old, new, changes):
    monkeypatch.setattr(own_code, "_ROOT", tmp_path)
    monkeypatch.setattr(own_code, "_STORED", {"tabular": "plurispiel.agents.one"})
    digests = []
    for step in range(2):
        texts = {
            "one.py": '"""A module,\none."""\nfrom plurispiel.agents.sub import two\nimport plurispiel.agents.none\n',
            "sub/__init__.py": "",
            "sub/two.py": 'class A:\n    """The two."""\n\n    def f(self):\n        return 1\n',
            "sub/table.npy": "[3, 4]",
        }
        for name, text in texts.items():
            path = tmp_path / "agents" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(old, new) if step else text)
        own_code._source.cache_clear()
        own_code._module_digest.cache_clear()
        digests.append(own_code_digest("tabular:x"))
    own_code._module_digest.cache_clear()
    assert (digests[0] != digests[1]) is changes

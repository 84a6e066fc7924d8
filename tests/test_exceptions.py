"""Whatever the package raises can be sent from a process to another: type, text and what it carries."""

import importlib
import importlib.util
import inspect
import pickle
import pkgutil

import pytest

import plurispiel

WITHOUT_THEIR_EXTRA = {"gymnasium_face": "gymnasium", "pettingzoo_face": "pettingzoo", "_deep_cfr_networks": "torch"}


def imported(name):
    """Return the attributes of a module, none where the library that the module wraps is not installed."""
    wrapped = WITHOUT_THEIR_EXTRA.get(name.rpartition(".")[2])
    if wrapped is None or importlib.util.find_spec(wrapped) is not None:
        return list(vars(importlib.import_module(name)).values())
    with pytest.raises(ImportError, match=rf"pip install 'plurispiel\[gym\]'|No module named '{wrapped}'"):
        importlib.import_module(name)
    return []


def exception_classes():
    found = {}
    for module in pkgutil.walk_packages(plurispiel.__path__, "plurispiel."):
        if module.name == "plurispiel.__main__":
            continue
        for one in imported(module.name):
            ours = isinstance(one, type) and issubclass(one, BaseException) and one.__module__.startswith("plurispiel.")
            if ours and one.__module__ == module.name:
                found[f"{one.__module__}.{one.__qualname__}"] = one
    return found


def an_instance(error):
    """Return an exception with a text for each argument."""
    own = next(kind for kind in error.__mro__ if "__init__" in vars(kind))
    if own.__module__ == "builtins":
        return error("what happened")
    return error(*(f"the {name}" for name in list(inspect.signature(own.__init__).parameters)[1:]))


def test_every_exception_survives_the_way_to_another_process():
    classes = exception_classes()
    assert {
        "plurispiel.evaluation.local_best_response.StrategyUnknown",
        "plurispiel.evaluation.hand.AgentFault",
    } <= set(classes)
    for error in map(an_instance, classes.values()):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert (str(copy), copy.args, vars(copy)) == (str(error), error.args, vars(error))

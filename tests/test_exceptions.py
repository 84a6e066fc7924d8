"""Whatever the package raises can be sent from a process to another: type, text and what it carries."""

import importlib
import importlib.util
import inspect
import pickle
import pkgutil

import plurispiel

OF_EXTRAS = ("gymnasium", "pettingzoo", "torch", "starlette", "uvicorn", "websockets", "distributed", "dask")


def imported(name):
    """Return the attributes of a module, none where the module needs a library of an extra that is not installed."""
    try:
        return list(vars(importlib.import_module(name)).values())
    except ImportError as error:
        absent = [library for library in OF_EXTRAS if importlib.util.find_spec(library) is None]
        assert any(library in str(error).lower() for library in absent), (name, error)
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

"""Data frames of results, where pandas is installed."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def data_frame(names: list[str], rows: Iterable[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Return a pandas DataFrame of rows, indexed by ``name``.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_frame needs pandas, which is not installed (pip install pandas); to_dict works without pandas"
        ) from None
    return pandas.DataFrame(list(rows), index=pandas.Index(names, name="name"))

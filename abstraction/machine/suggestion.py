"""Suggestions for mistyped names."""

from collections.abc import Iterable

__all__ = ["suggestion"]


def suggestion(text: str, names: Iterable[str]) -> str:
    """Return the end of an error message that suggests the name nearest to a text; empty if no name is near.

    >>> suggestion("tournamnet", ["replay", "tournament"])
    ", did you mean 'tournament'?"
    >>> suggestion("chess", ["HUNL", "SIXMAX"])
    ''
    """
    import difflib  # not above: the help of the command line must start fast

    known = {name.lower(): name for name in names}
    close = difflib.get_close_matches(text.lower(), known, n=1)
    return f", did you mean {known[close[0]]!r}?" if close else ""

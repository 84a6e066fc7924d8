"""What somebody meant who typed a name that there is not."""

from collections.abc import Iterable

__all__ = ["suggestion"]


def suggestion(text: str, names: Iterable[str]) -> str:
    """Return words, to be put behind a text in a message, that name what is most like it; none if nothing is.

    >>> suggestion("tournamnet", ["replay", "tournament"])
    ", did you mean 'tournament'?"
    >>> suggestion("chess", ["HUNL", "SIXMAX"])
    ''
    """
    import difflib  # not above: the help of the command line does without

    known = {name.lower(): name for name in names}
    close = difflib.get_close_matches(text.lower(), known, n=1)
    return f", did you mean {known[close[0]]!r}?" if close else ""

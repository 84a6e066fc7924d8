import pytest

from plurispiel.abstraction.machine.suggestion import suggestion


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("tournamnet", ["replay", "tournament"], ", did you mean 'tournament'?"),
        ("hunl", ["HUNL", "SIXMAX"], ", did you mean 'HUNL'?"),
        ("chess", ["HUNL", "SIXMAX"], ""),
        ("", [], ""),
    ],
)
def test_the_nearest_name_in_any_case(text, names, expected):
    assert suggestion(text, names) == expected

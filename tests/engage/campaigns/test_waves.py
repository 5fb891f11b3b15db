"""Events that ask what went before are decided after it."""

import pytest

from abacus.engage.campaigns.decide.waves import Wanting, waves


@pytest.mark.parametrize(
    ("wanting", "numbers"),
    [
        ([], []),
        ([(0, "ann", None), (1, "ann", None)], [0, 0]),
        ([(0, "ann", "a"), (1, "ann", "a"), (2, "ann", "a")], [0, 1, 2]),
        ([(0, "ann", "a"), (1, "bob", "a"), (2, "ann", "b")], [0, 0, 0]),
        ([(0, "ann", "a"), (1, "ann", "a"), (2, "bob", "a"), (3, "ann", None)], [0, 1, 0, 1]),
        ([(0, "ann", "a"), (0, "ann", "b"), (1, "ann", "c"), (1, "ann", "b"), (2, "ann", "a")], [0, 0, 1, 1, 1]),
        ([(0, "ann", None), (0, "ann", "a"), (1, "ann", None), (2, "ann", "a")], [0, 0, 0, 1]),
    ],
)
def test_the_wave_of_each(wanting: list[tuple[int, str, str | None]], numbers: list[int]) -> None:
    assert waves([Wanting(*each) for each in wanting]) == numbers

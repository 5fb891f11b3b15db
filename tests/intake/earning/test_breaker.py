"""The breaker trips when too many of the last messages are bad, and before the batch in hand is set aside."""

from collections.abc import Sequence

import pytest

from abacus.core.errors import LineStopped
from abacus.intake.earning.decide.breaker import Breaker

# The share allowed; (seen, bad) of each batch in turn, under a window of 100 and a minimum of 20; the batch at which it
# trips, and the count that it gives.
CASES: list[tuple[str, float, list[tuple[int, int]], tuple[int, str] | None]] = [
    ("nothing", 0.5, [(0, 0)] * 5, None),
    ("all good", 0.5, [(50, 0)] * 10, None),
    ("the share itself is allowed", 0.5, [(50, 25)] * 10, None),
    ("one more than the share", 0.5, [(50, 26)], (0, "26 of the last 50")),
    ("too few to tell", 0.5, [(19, 19)], None),
    ("just enough to tell", 0.5, [(20, 20)], (0, "20 of the last 20")),
    ("enough to tell in the end", 0.5, [(10, 10), (9, 9), (1, 1)], (2, "20 of the last 20")),
    ("one message at a time", 0.5, [(1, 1)] * 30, (19, "20 of the last 20")),
    ("good ones before keep it closed", 0.5, [(50, 0), (50, 50)], None),
    ("until the window has passed over them", 0.5, [(50, 0), (50, 50), (1, 1)], (2, "51 of the last 101")),
    ("a burst long ago is forgotten", 0.2, [(100, 20), (100, 0), (100, 20), (100, 0)], None),
    ("a batch larger than the window counts whole", 0.5, [(1000, 0), (300, 151)], (1, "151 of the last 300")),
    ("a batch larger than the window with enough good ones", 0.5, [(1000, 0), (300, 150)], None),
    ("empty batches between", 0.5, [(20, 10), (0, 0), (0, 0), (20, 11)], (3, "21 of the last 40")),
    ("no share is too large", 1.0, [(100, 100)] * 10, None),
    ("hardly any is allowed", 0.01, [(100, 1), (100, 2)], (1, "2 of the last 100")),
]


@pytest.mark.parametrize(("share", "batches", "trips"), [pytest.param(*row, id=name) for name, *row in CASES])
def test_breaker(share: float, batches: Sequence[tuple[int, int]], trips: tuple[int, str] | None) -> None:
    assert first_trip(Breaker(share, window=100, at_least=20), batches) == trips


def first_trip(breaker: Breaker, batches: Sequence[tuple[int, int]]) -> tuple[int, str] | None:
    for index, (seen, bad) in enumerate(batches):
        try:
            breaker.watch(seen, bad)
        except LineStopped as stopped:
            return index, str(stopped).partition(" messages")[0]
    return None


def test_it_stays_open_while_the_stream_stays_bad() -> None:
    breaker = Breaker(0.5, window=100, at_least=20)
    for _ in range(3):
        with pytest.raises(LineStopped):
            breaker.watch(50, 50)


def test_what_it_says() -> None:
    with pytest.raises(LineStopped) as stopped:
        Breaker(0.25).watch(200, 51)
    assert str(stopped.value) == (
        "51 of the last 200 messages would be quarantined, more than the 25% allowed (ABACUS_QUARANTINE_SHARE);"
        " mend the cause, then start the worker again"
    )

"""What would make counts wrong that are kept is found, as the property of cached routes finds it."""

import pytest

from tests.signals.counters.reading.asking import DAY_S, HOUR_S
from tests.signals.counters.reading.served import LATE_BY_S, Backfilled, Counting, CountsAtWork, TooLate
from tests.support.cached_routes import Alter, Ask, held_to_its_key

KEYS = ("rain:1", "snow:1")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ago_s", [0, HOUR_S, LATE_BY_S, 7 * HOUR_S, DAY_S, 5 * DAY_S])
async def test_each_event_is_in_the_counts_in_time(key: str, ago_s: int) -> None:
    late = TooLate(key, ago_s) if ago_s > LATE_BY_S else Counting(key, ago_s)
    await held_to_its_key(CountsAtWork(), [Ask(0), Alter(late), Ask(0)])


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ago_s", [7 * HOUR_S, DAY_S, 5 * DAY_S])
@pytest.mark.parametrize("minutes", [0, 29, 62])
async def test_a_backfill_has_to_announce_itself(key: str, ago_s: int, minutes: int) -> None:
    steps: list[Ask | Alter] = [Ask(0), Alter(Backfilled(key, ago_s, minutes)), Ask(0)]
    await held_to_its_key(CountsAtWork(), steps)
    if minutes < 30:
        with pytest.raises(AssertionError, match="is not told what holds"):
            await held_to_its_key(CountsAtWork(announces=False), steps)

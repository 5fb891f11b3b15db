"""A day of lookups, replayed on a simulated clock: no cache, the classic cache, and the cache of closed parts.

The classic cache keeps whole answers for five minutes, under both ends floored to the quarter. It is here for the
comparison and nowhere else. Reads of the store are counted in slots, since a row has to be added up for each slot and
writer.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Final, NamedTuple

from abacus.platform.reading.part_cache import PartCache
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.grid import grain_of
from abacus.signals.counters.decide.template import read_template
from abacus.signals.counters.decide.tiles import floor_quarter
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange, Slots
from benchmarks.report import Figure

KEYS: Final = 1_000
SKEW: Final = 1.1  # the n-th key is asked for 1/n**1.1 times as often as the first
LOOKUPS_PER_S: Final = 10.0  # on average over the day
IN_REQUEST: Final = 10
DAY_S: Final = 86_400
HOUR_S: Final = 3_600
MIDNIGHT: Final = int(datetime(2026, 6, 12, tzinfo=UTC).timestamp())  # a Friday: the week has some days already
LATE_BY_S: Final = 3 * HOUR_S
CLASSIC_TTL_S: Final = 300
DRAWN_S: Final = 15  # of a column of the chart
TURN: Final = MIDNIGHT + 20 * HOUR_S  # in the evening's rush
HIGH: Final = 4  # lines of the chart
DRAWN: Final = range(TURN - 180, TURN + 900, DRAWN_S)
WANTED_PEAK: Final = 1.3  # times the mean of the same quarter of an hour

# How far back lookups reach, and how often. A start is always one that the same campaign keeps all day.
_WINDOWS: Final[Mapping[str, int]] = {"week": 40, "seven days": 25, "today": 15, "thirty days": 10, "campaign": 10}
_LENGTHS: Final = {Grain.QUARTER: 1, Grain.HOUR: 4, Grain.DAY: 96}  # in quarters

RAIN: Final = Definition(
    id=34,
    version=1,
    name="count_rain_drops",
    template=read_template("rain_drops:city:{city_id}"),
    on=(("weather", "rain.drop"),),
    published_at=datetime(2026, 1, 1, tzinfo=UTC),
)


class SimulatedClock:
    """Moves when told."""

    def __init__(self) -> None:
        self.now_s: float = MIDNIGHT

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.now_s, UTC)


class CountedStore:
    """A store in which nothing happened; it counts what is read."""

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self.slots_read: Counter[int] = Counter()  # by the second at which a column of the chart begins
        self.ranges = 0

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:  # noqa: ARG002  # nothing was saved
        return {}

    async def save(self, rows: Sequence[Row]) -> None:
        """Saves nothing."""

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        column = int(self._clock.now_s) // DRAWN_S * DRAWN_S
        self.slots_read[column] += sum((end - first) // _LENGTHS[grain_of(first)] for _, first, end in ranges)
        self.ranges += len(ranges)
        return [0] * len(ranges)

    async def slots(self, ranges: Sequence[SlotRange]) -> Sequence[Mapping[int, int]]:
        return [{} for _ in ranges]

    async def keys(self, space: str, after: str, most: int) -> Sequence[str]:  # noqa: ARG002  # nothing was saved
        return []

    async def top(  # nothing was saved
        self,
        space: str,  # noqa: ARG002
        slots: Sequence[Slots],  # noqa: ARG002
        most: int,  # noqa: ARG002
    ) -> Sequence[tuple[str, int]]:
        return []

    async def there(self, ranges: Sequence[SlotRange]) -> Sequence[bool]:
        return [False] * len(ranges)

    async def apart(self, ranges: Sequence[SlotRange]) -> Mapping[str | None, Sequence[SlotRange]]:
        return {None: ranges}

    async def probes(self) -> Mapping[str | None, SlotRange]:
        return {None: SlotRange("", 0, 0)}


class Strategy:
    """A way to answer lookups, with the store that it reads."""

    def __init__(self, *, keeps: bool) -> None:
        self.clock = SimulatedClock()
        self.store = CountedStore(self.clock)
        parts = PartCache(closed_parts(100_000), clock=self.clock, rng=random.Random(1))
        rounds = Rounds(self.store, within_s=5, parts=parts)
        catalog = Catalog([RAIN], {})
        self._service = CountService(
            lambda: catalog, rounds, parts, self.clock, late_by_s=LATE_BY_S, keeps=lambda _: keeps
        )

    async def counts(self, lookups: Sequence[Lookup]) -> Sequence[Counted | NotCounted]:
        return await self._service.counts(lookups)


class Classic(Strategy):
    """Whole answers for five minutes."""

    def __init__(self) -> None:
        super().__init__(keeps=False)
        self._answers: dict[Lookup, tuple[Counted | NotCounted, float]] = {}

    async def counts(self, lookups: Sequence[Lookup]) -> Sequence[Counted | NotCounted]:
        now_s = self.clock.now_s
        floored = [Lookup(key, floor_quarter(begin), floor_quarter(end)) for key, begin, end in lookups]
        missing = [each for each in dict.fromkeys(floored) if self._answers.get(each, (None, 0.0))[1] <= now_s]
        for lookup, answer in zip(missing, await super().counts(missing), strict=True):
            self._answers[lookup] = answer, now_s + CLASSIC_TTL_S
        return [self._answers[each][0] for each in floored]


class Replay(NamedTuple):
    """What the store had to read in a day."""

    lookups: int
    ranges: int
    slots: Counter[int]
    took_s: float

    @property
    def total(self) -> int:
        return self.slots.total()

    def peak(self, seconds: int) -> int:
        """The most slots that were read in so many seconds."""
        columns = seconds // DRAWN_S
        sums = [0, *accumulate(self.slots[MIDNIGHT + at] for at in range(0, DAY_S, DRAWN_S))]
        return max(later - earlier for earlier, later in zip(sums, sums[columns:], strict=False))

    def turn_over_mean(self) -> float:
        """The minute after the turn of a quarter, against the mean minute of the quarters around it."""
        quarter = [self.slots[at] for at in range(TURN - 900, TURN + 900, DRAWN_S)]
        return sum(self.slots[TURN + at] for at in range(0, 60, DRAWN_S)) / (sum(quarter) / 30)


async def measure(lookups_per_s: float = LOOKUPS_PER_S) -> list[Figure]:
    """Replays the same day three times, and prints the chart."""
    strategies: dict[str, Callable[[], Strategy]] = {
        "no cache": lambda: Strategy(keeps=False),
        "classic cache": Classic,
        "closed parts": lambda: Strategy(keeps=True),
    }
    replays = {name: await _replayed(make(), lookups_per_s) for name, make in strategies.items()}
    print(chart(replays))
    return _figures(replays)


async def _replayed(strategy: Strategy, lookups_per_s: float) -> Replay:
    began, count = time.perf_counter(), 0
    for at, lookups in _day(lookups_per_s):
        strategy.clock.now_s = at
        await strategy.counts(lookups)
        count += len(lookups)
    return Replay(count, strategy.store.ranges, strategy.store.slots_read, time.perf_counter() - began)


def _day(lookups_per_s: float) -> Iterator[tuple[float, list[Lookup]]]:
    """The requests of a day, the same each time: busy in the evening, quiet at night, most of them for a few keys."""
    rng = random.Random(20_260_612)
    keys = [f"rain_drops:city:{number}" for number in range(KEYS)]
    weights = list(accumulate(1 / (rank + 1) ** SKEW for rank in range(KEYS)))
    windows = rng.choices(list(_WINDOWS), list(_WINDOWS.values()), k=KEYS)
    starts = {key: MIDNIGHT - rng.randrange(10, 40) * HOUR_S * 24 + rng.randrange(24) * HOUR_S for key in keys}
    window_of = dict(zip(keys, windows, strict=True))
    at = float(MIDNIGHT)
    while at < MIDNIGHT + DAY_S:
        asked = rng.choices(keys, cum_weights=weights, k=IN_REQUEST)
        yield at, [Lookup(key, _start(window_of[key], starts[key], int(at)), int(at)) for key in asked]
        at += rng.expovariate(_busy(at) * lookups_per_s / IN_REQUEST)


def _start(window: str, campaign: int, now_s: int) -> int:
    midnight = now_s - now_s % DAY_S
    match window:
        case "week":
            return midnight - (midnight // DAY_S + 3) % 7 * DAY_S  # since Monday
        case "seven days":
            return now_s - 7 * DAY_S
        case "today":
            return midnight
        case "thirty days":
            return midnight - 30 * DAY_S
        case _:
            return campaign


def _busy(at: float) -> float:
    """Of the mean rate, by the time of day: most at 8 in the evening, least at 8 in the morning."""
    return 1 + 0.7 * math.cos((at - TURN) / DAY_S * 2 * math.pi)


def chart(replays: Mapping[str, Replay]) -> str:
    """Slots read in each quarter of a minute around the turn, a bar for each; all to the same scale."""
    most = max(replay.slots[at] for replay in replays.values() for at in DRAWN)
    lines = [f"slots read from the store in {DRAWN_S} s, from 19:57 to 20:15; a full column is {most:,}"]
    for name, replay in replays.items():
        heights = [HIGH * replay.slots[at] / most for at in DRAWN]
        rows = ["".join(_cell(height - row) for height in heights) for row in reversed(range(HIGH))]
        lines += ["", *(f"{label:>14} |{row}" for label, row in zip([name, *[""] * HIGH], rows, strict=False))]
    lines.append(" " * 15 + "+" + "".join("|" if at == TURN else "-" for at in DRAWN))
    lines.append(" " * (16 + (TURN - DRAWN.start) // DRAWN_S) + "20:00")
    return "\n".join(lines)


def _cell(filled: float) -> str:
    return " ▁▂▃▄▅▆▇█"[round(8 * min(1.0, max(0.0, filled)))]


def _figures(replays: Mapping[str, Replay]) -> list[Figure]:
    none = replays["no cache"]
    figures = []
    for name, replay in replays.items():
        is_ours = name == "closed parts"
        turn = replay.turn_over_mean()
        figures.append(
            Figure(
                f"a day of {replay.lookups:,} lookups, {name}: slots read of the store a minute, mean",
                f"{replay.total / (DAY_S / 60):,.0f}, in the worst minute {replay.peak(60):,},"
                f" in the worst {DRAWN_S} s {replay.peak(DRAWN_S):,}",
                f"{1 - replay.total / none.total:.0%} of the slots come from the cache;"
                f" the minute after 20:00 has {turn:.1f} times the mean",
                f"<= {WANTED_PEAK} times" if is_ours else "",
                turn <= WANTED_PEAK if is_ours else None,
                anywhere=is_ours,
            )
        )
    return figures

"""Limits hold as in a plain model, whatever comes, again and again, by several processes and through changes."""

import itertools
from collections import Counter
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.engage.campaigns.effects import Effects
from abacus.platform.postgres import Pool
from tests.engage.campaigns.offers import NOW, campaign, decide, matched, order
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour
from tests.support.tries import tries

DAY = timedelta(days=1)
MEMBERS = (neighbour("a"), neighbour("b"))  # at the end of a limit of all, members of two slices have no order
SCOPES = ("overall", "day", "member", "member_day")
_numbers = itertools.count()


class Coming(NamedTuple):
    """An event: which one, whose, on which day."""

    number: int
    member: str
    day: int


class Batch(NamedTuple):
    """Events that a process decides together, by a version of the campaign."""

    events: list[Coming]
    process: int
    version: int


bounds = st.fixed_dictionaries({}, optional={scope: st.integers(1, 6) for scope in SCOPES})
pairs = st.fixed_dictionaries({}, optional={scope: st.tuples(st.integers(1, 6), st.integers(1, 6)) for scope in SCOPES})
events = st.builds(Coming, st.integers(0, 30), st.sampled_from(MEMBERS), st.integers(0, 1))
batches = st.lists(
    st.builds(Batch, st.lists(events, min_size=1, max_size=8), st.integers(0, 1), st.integers(0, 1)), max_size=8
)


class Plain:
    """The campaign in memory: one event after the other, every limit looked at."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, str, int]] = set()
        self.runs: Counter[Any] = Counter()

    def decide(self, event: Coming, runs: dict[str, int], points: dict[str, int]) -> str | None:
        """None for an event that was decided before."""
        if event in self.seen:
            return None
        self.seen.add(event)
        where = {
            "member": event.member,
            "member_day": (event.member, event.day),
            "overall": "all",
            "day": ("all", event.day),
        }
        for scope, place in where.items():
            for what, limits, each in (("runs", runs, 1), ("points", points, 500)):
                if scope in limits and (self.runs[place] + 1) * each > limits[scope] * each:
                    return f"refused:{scope}.{what}"
        self.runs.update(where.values())
        return "done"


@pytest.mark.long
@given(pairs, bounds, batches)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=tries(by_day=25, by_night=60))
async def test_as_in_a_plain_model(
    pool: Pool, both: dict[str, tuple[int, int]], points: dict[str, int], some: list[Batch]
) -> None:
    """Two processes, each with its slot; the limits of runs change between two versions and back."""
    mark = next(_numbers)
    plain, processes = Plain(), [Effects(pool, FixedClock(NOW), slot=slot) for slot in (1, 2)]
    for batch in some:
        runs = {scope: of[batch.version] for scope, of in both.items()}
        limits: dict[str, Any] = {"runs": runs} if runs else {}
        limits |= {"points": {scope: 500 * most for scope, most in points.items()}} if points else {}
        offer = campaign(batch.version + 1, name=f"offer_{mark}", limits=limits or {"unlimited": True})
        coming = [matched(offer, order(_id(event), event.member, event.day * DAY)) for event in batch.events]
        decided = await decide(processes[batch.process], coming)
        expected = [plain.decide(event, runs, points) for event in batch.events]
        told = [f"{run.outcome}:{run.refusal}" if run.refusal else str(run.outcome) for run in decided]
        assert told == [each for each in expected if each is not None]


def _id(event: Coming) -> int:
    return event.number * 100 + MEMBERS.index(event.member) * 10 + event.day

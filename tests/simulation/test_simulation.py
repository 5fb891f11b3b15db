"""Hundreds of storms: whatever goes wrong, everything ends posted once, or set aside once, and published in order.

`ABACUS_SIMULATION_SEEDS` says how many seeds are run, `ABACUS_SIMULATION_SEED` which one `-k one_seed` runs.
"""

import os
from collections import Counter
from dataclasses import fields
from functools import cache
from typing import Final

import pytest

from tests.simulation.broken import BROKEN
from tests.simulation.house import Parts
from tests.simulation.run import run_seed
from tests.simulation.storm import DEPENDENCIES, PLACES, Trace, Weather
from tests.simulation.violation import Violated

SEEDS: Final = int(os.environ.get("ABACUS_SIMULATION_SEEDS", "100"))
ONE_SEED: Final = int(os.environ.get("ABACUS_SIMULATION_SEED", "1"))
AT_ONCE: Final = 25
AIMED: Final = 2 * len(PLACES)  # each seed aims at one place to crash at
FAILS_WITHIN: Final = 40

# One process plays the seeds that the storm as a whole is judged by.
_together = pytest.mark.xdist_group("storms")


@pytest.mark.long
@pytest.mark.parametrize(
    "first",
    [pytest.param(first, marks=_together if first < AIMED else ()) for first in range(0, SEEDS, AT_ONCE)],
)
def test_every_seed_keeps_the_invariants(first: int) -> None:
    _played(first, min(first + AT_ONCE, SEEDS))


def test_one_seed() -> None:
    """And twice over it goes the same way."""
    assert run_seed(ONE_SEED).house.trace.moments == run_seed(ONE_SEED).house.trace.moments


@pytest.mark.long
@_together
@pytest.mark.skipif(AIMED > SEEDS, reason="not every place is aimed at twice")
def test_the_storm_leaves_nothing_out() -> None:
    traces = [_played(first, first + AT_ONCE) for first in range(0, AIMED, AT_ONCE)]
    crashes = Counter(place for trace in traces for place in trace.crashes)
    misfortunes = Counter(what for trace in traces for what in trace.misfortunes)
    assert not set(PLACES) - crashes.keys()
    assert (
        not {*(each.name for each in fields(Weather)), *(f"{name} down" for name in DEPENDENCIES)} - misfortunes.keys()
    )


@pytest.mark.parametrize(("parts", "invariants"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_is_found(parts: Parts, invariants: set[str]) -> None:
    assert _first_violation(parts) in invariants


def _first_violation(parts: Parts) -> str:
    for seed in range(FAILS_WITHIN):
        try:
            run_seed(seed, parts)
        except Violated as violated:
            return violated.invariant
    return f"none within {FAILS_WITHIN} seeds"


@cache
def _played(first: int, end: int) -> Trace:
    """What happened in these seeds together; each is run once however many tests ask."""
    together = Trace()
    for seed in range(first, end):
        trace = run_seed(seed).house.trace
        together.crashes += trace.crashes
        together.misfortunes += trace.misfortunes
    return together

"""Hundreds of storms: whatever goes wrong, everything ends posted once, or set aside once, and published in order.

`ABACUS_SIMULATION_SEEDS` says how many seeds are run, `ABACUS_SIMULATION_SEED` which one `-k one_seed` runs.
"""

import os
from dataclasses import fields
from typing import Final

import pytest

from tests.simulation.broken import BROKEN
from tests.simulation.run import run_seed
from tests.simulation.simulated import Parts
from tests.simulation.storm import DEPENDENCIES, PLACES, Weather
from tests.simulation.violation import Violated

SEEDS: Final = int(os.environ.get("ABACUS_SIMULATION_SEEDS", "100"))
ONE_SEED: Final = int(os.environ.get("ABACUS_SIMULATION_SEED", "1"))
A_ROUND: Final = 2 * len(PLACES)  # each seed aims at one place to crash at, so each place is aimed at twice
FAILS_WITHIN: Final = 40


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(0, SEEDS, A_ROUND))
def test_every_seed_keeps_the_invariants_and_the_first_round_leaves_nothing_out(first: int) -> None:
    traces = [run_seed(seed).simulated.trace for seed in range(first, min(first + A_ROUND, SEEDS))]
    if first == 0 and len(traces) == A_ROUND:
        crashes = {place for trace in traces for place in trace.crashes}
        misfortunes = {what for trace in traces for what in trace.misfortunes}
        assert not set(PLACES) - crashes
        assert not {*(each.name for each in fields(Weather)), *(f"{name} down" for name in DEPENDENCIES)} - misfortunes


def test_one_seed() -> None:
    """And twice over it goes the same way."""
    assert run_seed(ONE_SEED).simulated.trace.moments == run_seed(ONE_SEED).simulated.trace.moments


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

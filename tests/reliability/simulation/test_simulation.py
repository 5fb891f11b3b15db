"""Hundreds of storms: whatever goes wrong, everything ends posted once, or set aside once, and published in order.

`ABACUS_SIMULATION_SEEDS` says how many seeds are run, `ABACUS_SIMULATION_SEED` which one `-k one_seed` runs, and
`ABACUS_SIMULATION_SEEDS_ON_POSTGRES` how many are run with the ledger and the relays of production; these aim in turn
at each place at which a relay may crash. What is simulated and what is real: `docs/develop/reliability.md`.
"""

import os
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Final

import pytest

from tests.reliability.simulation.broken import BROKEN, BROKEN_RELAYS
from tests.reliability.simulation.on_postgres import LedgerOnPostgres, RelayOnPostgres, Server, serving
from tests.reliability.simulation.run import run_seed
from tests.reliability.simulation.simulated import Parts
from tests.reliability.simulation.storm import DEPENDENCIES, PLACES, Weather
from tests.reliability.simulation.violation import Violated

SEEDS: Final = int(os.environ.get("ABACUS_SIMULATION_SEEDS", "100"))
SEEDS_ON_POSTGRES: Final = int(os.environ.get("ABACUS_SIMULATION_SEEDS_ON_POSTGRES", "10"))
ONE_SEED: Final = int(os.environ.get("ABACUS_SIMULATION_SEED", "1"))
A_ROUND: Final = 2 * len(PLACES)  # each seed aims at one place to crash at, so each place is aimed at twice
FAILS_WITHIN: Final = 40


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.night) for n in range(A_ROUND, SEEDS, A_ROUND))]
)
def test_every_seed_keeps_the_invariants_and_the_first_round_leaves_nothing_out(first: int) -> None:
    traces = [run_seed(seed).simulated.trace for seed in range(first, min(first + A_ROUND, SEEDS))]
    if first == 0 and len(traces) == A_ROUND:
        crashes = {place for trace in traces for place in trace.crashes}
        misfortunes = {what for trace in traces for what in trace.misfortunes}
        assert not set(PLACES) - crashes
        assert not {*(each.name for each in fields(Weather)), *(f"{name} down" for name in DEPENDENCIES)} - misfortunes


def test_one_seed() -> None:
    """A second run of the seed goes the same way."""
    assert run_seed(ONE_SEED).simulated.trace.moments == run_seed(ONE_SEED).simulated.trace.moments


@pytest.mark.parametrize(("parts", "invariants"), BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_is_found(parts: Parts, invariants: set[str]) -> None:
    assert _first_violation(lambda: parts) in invariants


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS_ON_POSTGRES))
def test_on_postgres_every_seed_keeps_them_too_while_relays_crash(database_url: str, seed: int) -> None:
    with serving(database_url) as server:
        storm = run_seed(seed, _on(server)).simulated.storm
    assert storm.aim in storm.trace.crashes


@pytest.mark.long
@pytest.mark.parametrize("relay", BROKEN_RELAYS.values(), ids=BROKEN_RELAYS.keys())
def test_a_relay_that_is_broken_is_found(database_url: str, relay: type[RelayOnPostgres]) -> None:
    with serving(database_url) as server:

        def on_an_empty_database() -> Parts:
            server.empty()
            return _on(server, relay)

        assert _first_violation(on_an_empty_database) == "everything is published in order"


def _on(server: Server, relay: type[RelayOnPostgres] = RelayOnPostgres) -> Parts:
    return Parts(ledger=partial(LedgerOnPostgres, server), relay=relay)


def _first_violation(parts: Callable[[], Parts]) -> str:
    for seed in range(FAILS_WITHIN):
        try:
            run_seed(seed, parts())
        except Violated as violated:
            return violated.invariant
    return f"none within {FAILS_WITHIN} seeds"

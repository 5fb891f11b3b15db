"""Owners of any kind take from pots of their own, exactly to the last point, by several processes at once."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest

from abacus.engage.limits.decide.pots import EVER, Pot, pot_of
from abacus.engage.limits.exhaustion_watch import ExhaustionWatch
from abacus.engage.limits.pot_rows import used
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.limits.types import Amounts
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import slices_of
from tests.engage.limits.documents import NOW, Document, nothing_before, take

OFFER: Final = Document("offer", "market", runs=7)
CAMPAIGN: Final = Document("campaign", "market", runs=3)
DAY: Final = NOW.date().isoformat()


async def used_of(pool: Pool, document: Document) -> dict[str, int]:
    """The runs that were taken from the pots of an owner, by period."""
    async with pool.acquire() as connection:
        found = await used(connection, document.kind, [document.name], None)
    return {pot.period: amounts.runs for pot, amounts in found.items()}


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        (OFFER, 7),
        (OFFER._replace(runs=40), 40),
        (OFFER._replace(runs=40, per_day=5), 5),
        (OFFER._replace(runs=500), 60),
    ],
)
async def test_no_run_too_many_by_several_processes_at_once(pool: Pool, offer: Document, expected: int) -> None:
    """A campaign of the same name is at its own limit meanwhile."""
    slices = await slices_of(pool)

    async def work(slot: int) -> Counter[str]:
        pots, done = PotStore(pool, slot % 2, nothing_before), Counter[str]()
        for number in range(20):
            documents = [CAMPAIGN, offer] if number % 2 else [offer, CAMPAIGN]
            given = await take(slices[(slot + number) % len(slices)], pots, documents)
            done.update(each.kind for each, one in zip(documents, given, strict=True) if one)
        return done

    done: Counter[str] = sum(await asyncio.gather(*map(work, range(3))), Counter())
    assert done == {"offer": expected, "campaign": 3}
    periods = (EVER,) if offer.per_day is None else (EVER, DAY)
    assert await used_of(pool, offer) == dict.fromkeys(periods, expected)
    assert await used_of(pool, CAMPAIGN) == {EVER: 3}


async def test_what_was_done_before_there_was_a_limit_counts(pool: Pool) -> None:
    """It is asked for once, when the pot is opened, and of each slice."""
    slices = await slices_of(pool)
    asked: list[Pot] = []

    async def two_in_each_slice(_: Connection, pots: Sequence[Pot]) -> Mapping[Pot, Amounts]:
        asked.extend(pots)
        return {pot: Amounts(runs=2) for pot in pots if pot.owner_kind == "offer"}

    offer, pots = OFFER._replace(runs=2 * len(slices) + 1), PotStore(pool, 0, two_in_each_slice)
    assert [await take(slices[0], pots, [offer]) for _ in range(3)] == [[True], [False], [False]]
    assert asked == [pot_of(offer.owner)] * len(slices)


@dataclass
class Marks:
    """The documents that were marked as exhausted."""

    marked: list[Document] = field(default_factory=list)

    async def mark(self, documents: Sequence[Document]) -> None:
        self.marked += documents


async def test_an_owner_at_its_limit_is_marked_and_others_of_its_name_are_not(pool: Pool) -> None:
    pots, marks = PotStore(pool, 0, nothing_before), Marks()
    for _ in range(4):
        await take((await slices_of(pool))[0], pots, [OFFER, CAMPAIGN])
    watch = ExhaustionWatch(pool, pots, lambda: [OFFER, CAMPAIGN], marks.mark, WorkerHealth("worker"))
    await watch.look()
    assert marks.marked == [CAMPAIGN]

"""Faults that only a ledger on a database can have: refused values, lost connections, others at the same time."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Final

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import AwardOutcome, Status, Unpostable
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW, OpenPostgresLedger, award, is_sound
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour
from tests.support.stamps import ids_against_seq

POSTERS: Final = 8
OPENINGS: Final = 40


@pytest.mark.parametrize(
    "bad",
    [
        award(key="k2", member_id=neighbour("nul\0")),
        award(key="half a \ud800 pair"),
        award(key="k2", explanation=b"{not json"),
        award(key="k2", program="OVO", explanation=b'"\\u0000'),
    ],
    ids=["a NUL", "half a character", "no JSON", "cut-off JSON"],
)
async def test_a_refused_value_takes_the_whole_batch(pool: Pool, bad: Award) -> None:
    ledger = OpenPostgresLedger(pool, FixedClock(NOW))
    with pytest.raises(Unpostable):
        await ledger.post([award(), bad, award(key="k3", member_id=neighbour("jane"))])
    assert await ledger.contents() == ([], [], [])


async def test_a_closed_pool_is_unavailable(pool: Pool) -> None:
    ledger = OpenPostgresLedger(pool, FixedClock(NOW))
    await pool.close()
    with pytest.raises(Unavailable):
        await ledger.post([award()])


@pytest.mark.parametrize("seed", range(2))
async def test_posters_at_the_same_time(pool: Pool, seed: int) -> None:
    """No deadlock comes out, every key is posted once, and along each account the transactions' ids grow with `seq`.

    The relay publishes by those ids, so an id that grows against `seq` would publish an account out of order.
    """
    chance = random.Random(seed)
    ledger = OpenPostgresLedger(pool, SystemClock())
    outcomes = await _posted_by_all(ledger, [_batches(chance) for _ in range(POSTERS)])

    posted = Counter(outcome.award.key for outcome in outcomes if outcome.status is Status.POSTED)
    contents = await ledger.contents()
    assert posted == Counter({outcome.award.key for outcome in outcomes})
    assert is_sound(contents)
    standing = {claim.key: claim.fingerprint for claim in contents.claims}
    for outcome in outcomes:
        conflicts = outcome.award.fingerprint != standing[outcome.award.key]
        assert conflicts == (outcome.status is Status.CONFLICT)
    assert await ids_against_seq(pool) == []


@pytest.mark.long
async def test_posters_that_open_the_same_accounts(pool: Pool) -> None:
    """The narrowest place: some posters open an account that others change a moment later."""
    chance = random.Random(1)
    ledger = OpenPostgresLedger(pool, SystemClock())
    for turn in range(OPENINGS):
        members = [f"m{turn}-{number}" for number in range(4)]
        batches = [
            [
                [award(key=f"{poster} {number} {member}", member_id=member) for member in chance.sample(members, 3)]
                for number in range(turn * 3, turn * 3 + 3)
            ]
            for poster in range(POSTERS)
        ]
        await _posted_by_all(ledger, batches)
    contents = await ledger.contents()
    assert len(contents.transfers) == OPENINGS * POSTERS * 9
    assert is_sound(contents)
    assert await ids_against_seq(pool) == []


async def _posted_by_all(
    ledger: OpenPostgresLedger, batches: Sequence[Sequence[Sequence[Award]]]
) -> Sequence[AwardOutcome]:
    """Each poster posts its batches one after the other, all posters at once."""
    outcomes: list[AwardOutcome] = []

    async def poster(batches: Sequence[Sequence[Award]]) -> None:
        for batch in batches:
            outcomes.extend(await ledger.post(batch))

    await asyncio.gather(*map(poster, batches))
    return outcomes


def _batches(chance: random.Random) -> list[list[Award]]:
    """Batches over the same keys and accounts as everybody's, in an order of their own.

    Each round reaches a few accounts further, so that some are opened by several posters at once while they are busy
    with those that exist.
    """
    return [[_any_award(chance, 8 + 6 * turn) for _ in range(chance.randint(1, 40))] for turn in range(16)]


def _any_award(chance: random.Random, members: int) -> Award:
    """A key goes now to one account, now to another: so keys meet where accounts do not, and the reverse."""
    number = chance.randint(0, 900)
    return award(
        key=f"k{number}",
        member_id=neighbour(f"m{number % members if chance.random() < 0.9 else chance.randrange(members)}"),
        program=chance.choice(("GRP", "OVO")),
        fingerprint=chance.choice(("0" * 16, "1" * 16)),
        points=number,
    )

"""A transaction is awarded once, whoever asks: the stream, a partner under any of its keys, another partner."""

import asyncio
from typing import Any, Final

import pytest

from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.award_envelope import Award, Transacted
from abacus.ledger.types.limits import Limits, RejectionReason
from abacus.ledger.types.port import AwardOutcome, Status
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.explanation.text import naming_transaction
from abacus.proof.verify import verify
from tests.ledger.ledgers import NOW, OpenLedger, OpenMemoryLedger, OpenPostgresLedger
from tests.ledger.moves import earn, refund, reverse
from tests.support.fixed_clock import FixedClock
from tests.support.forgetting import eraser, noted
from tests.support.sealing import tampering

POSTED, DUPLICATE, CONFLICT = Status.POSTED, Status.DUPLICATE, Status.CONFLICT
AWARDED, BUDGET = RejectionReason.ALREADY_AWARDED, RejectionReason.BUDGET_EXHAUSTED
PARTNERS: Final = ("acme", "bits")
CLOCK: Final = FixedClock(NOW)


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> OpenLedger:
    if request.param == "memory":
        return OpenMemoryLedger(CLOCK)
    return OpenPostgresLedger(request.getfixturevalue("pool"), CLOCK)


def streamed(transaction: str = "rides:1", points: int = 10, **changes: object) -> Award:
    return earn(points, f"txn:{transaction}", **changes)


def requested(key: str, transaction: str = "rides:1", points: int = 10, partner: str = "acme", **changes: Any) -> Award:
    """The same transaction, sent by a partner."""
    of = streamed(transaction, points)
    return of._replace(
        key=f"api:{partner}:{key}",
        source=f"partner:{partner}",
        fingerprint="a" * 16,
        explanation=naming_transaction(of.explanation, of.key),
        transaction=Transacted(of.key, of.fingerprint),
    )._replace(**changes)


# The awards of one batch after the other, and what becomes of each.
CASES: Final[dict[str, tuple[list[list[Award]], list[list[object]]]]] = {
    "the stream after a partner": ([[requested("a")], [streamed()]], [[POSTED], [DUPLICATE]]),
    "the stream with other facts": ([[requested("a")], [streamed(fingerprint="f" * 16)]], [[POSTED], [CONFLICT]]),
    "a partner after the stream": ([[streamed()], [requested("a")]], [[POSTED], [AWARDED]]),
    "a partner under another key": ([[requested("a")], [requested("b")]], [[POSTED], [AWARDED]]),
    "a partner under the same key": ([[requested("a")], [requested("a")]], [[POSTED], [DUPLICATE]]),
    "another partner": ([[requested("a")], [requested("a", partner="bits")]], [[POSTED], [AWARDED]]),
    "to another member": ([[requested("a")], [requested("b", member_id="eve")]], [[POSTED], [AWARDED]]),
    "of another source": ([[requested("a")], [requested("b", "meals:1")]], [[POSTED], [POSTED]]),
    "all in one batch": (
        [[requested("a"), streamed(), requested("b"), requested("a", partner="bits"), requested("a")]],
        [[POSTED, DUPLICATE, AWARDED, AWARDED, DUPLICATE]],
    ),
    "the stream first in one batch": ([[streamed(), requested("a"), requested("a")]], [[POSTED, AWARDED, AWARDED]]),
    "final for its key": ([[streamed()], [requested("a")], [requested("a")]], [[POSTED], [AWARDED], [AWARDED]]),
    "what met a limit has not awarded it": ([[requested("a", points=101)], [requested("b")]], [[BUDGET], [POSTED]]),
    "and spends nothing": (
        [[requested("a", points=60)], [requested("b", points=60)], [requested("c", "meals:1", 40)]],
        [[POSTED], [AWARDED], [POSTED]],
    ),
}


def told(outcome: AwardOutcome) -> object:
    return outcome.rejection.reason if outcome.status is Status.REJECTED and outcome.rejection else outcome.status


@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_each(ledger: OpenLedger, name: str) -> None:
    batches, expected = CASES[name]
    for partner in PARTNERS:
        await ledger.allow(partner, Limits(per_day=100))
    assert [[told(each) for each in await ledger.post(batch)] for batch in batches] == expected
    contents = await ledger.contents()
    claimed = {claim.key: (claim.member_id, claim.program, claim.seq) for claim in contents.claims}
    posted = [each for batch in batches for each in batch if each.key in claimed]
    assert {each.key for each in posted} | {each.transaction.key for each in posted if each.transaction} == set(claimed)
    assert {transfer[:3] for transfer in contents.transfers} == set(claimed.values())


async def test_at_the_same_time_too(pool: Pool) -> None:
    """Whoever claims the transaction second looks again."""
    ledger = OpenPostgresLedger(pool, CLOCK)
    for partner in PARTNERS:
        await ledger.allow(partner, Limits())
    ways = (streamed, lambda of: requested(of, of), lambda of: requested(of, of, partner="bits"))
    awards = [[way(f"rides:{number}") for number in range(20)] for way in ways]
    batches = [each[start : start + 5] for each in awards for start in range(0, 20, 5)]
    outcomes = await asyncio.gather(*(ledger.post(batch) for batch in batches))
    posted = [outcome for batch in outcomes for outcome in batch if outcome.status is POSTED]
    assert len(posted) == await pool.fetchval("select count(*) from transfer") == 20
    assert (await verify(pool, lambda _: None)).clean


async def test_a_refund_on_the_stream_takes_back_what_a_partner_awarded(
    ledger: OpenLedger, request: pytest.FixtureRequest
) -> None:
    """And together with reversals by the partner's own key it takes back no more than there was."""
    moves = ledger if isinstance(ledger, OpenMemoryLedger) else PostgresMoves(request.getfixturevalue("pool"), CLOCK)
    await ledger.allow("acme", Limits())
    await ledger.post([requested("a", points=100)])
    own = "api:acme:a"
    asks = [refund("30.00", "r1"), reverse(own, 50, "r2"), refund("90.00", "r3"), reverse(own, 1, "r4")]
    moved = [each for one in asks for each in await moves.move([one])]
    assert [each.transfer.points if each.transfer else each.status for each in moved] == [
        -30,
        -50,
        -20,
        Status.REFUSED,
    ]
    assert {each.transfer.reverses for each in moved if each.transfer} == {own}


CLAIM: Final = "insert into claim (key, member_id, program, seq, fingerprint) values"
TAMPERINGS: Final = {
    "without its transaction's claim": (
        "delete from claim where key = 'txn:rides:1'",
        "bob GRP #1: its key txn:rides:1 is not claimed for it",
    ),
    "with another's": (
        "update claim set key = 'txn:rides:9' where key = 'txn:rides:1'",
        "bob GRP #1: the key txn:rides:9 is claimed for a transfer that is not there",
    ),
    "with one more": (
        f"{CLAIM} ('txn:rides:9', 'bob', 'GRP', 1, 'ab')",
        "bob GRP #1: the key txn:rides:9 is claimed for a transfer that is not there",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_verifying_finds_a_transaction_whose_claim_is_amiss(pool: Pool, database_url: str, name: str) -> None:
    statement, fault = TAMPERINGS[name]
    ledger = OpenPostgresLedger(pool, CLOCK)
    await ledger.allow("acme", Limits())
    await ledger.post([requested("a"), streamed("meals:1")])
    assert (await verify(pool, lambda _: None)).clean
    async with tampering(database_url) as connection:
        await connection.execute(statement)
    assert fault in [str(each) for each in (await verify(pool, lambda _: None)).faults]


async def test_of_a_member_who_is_erased_it_stays_awarded(pool: Pool, database_url: str) -> None:
    ledger = OpenPostgresLedger(pool, CLOCK)
    await ledger.allow("acme", Limits())
    await ledger.post([requested("a"), streamed("meals:1")])
    owner = await open_pool(database_url, size=4, role=None)
    try:
        erased = await eraser(owner).erase("bob", by="alice", reason="asked to", also=noted)
    finally:
        await owner.close()
    claims = await pool.fetch("select key, member_id from claim order by key")
    assert [tuple(row) for row in claims] == [
        (key, erased.pseudonym) for key in ("api:acme:a", "txn:meals:1", "txn:rides:1")
    ]
    assert [told(each) for each in await ledger.post([streamed(), requested("b")])] == [DUPLICATE, AWARDED]
    assert (await verify(pool, lambda _: None)).clean

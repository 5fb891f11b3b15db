"""The promises of `LedgerPort`, on every ledger there is."""

import random
from datetime import UTC, date, datetime
from typing import Final

import pytest

from abacus.core.errors import Reason
from abacus.ledger.types.account import MAX_BALANCE
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import AwardOutcome, Status
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW, OpenLedger, OpenMemoryLedger, OpenPostgresLedger, award, is_sound
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour

POSTED, DUPLICATE, CONFLICT, REFUSED = Status.POSTED, Status.DUPLICATE, Status.CONFLICT, Status.REFUSED

FIRST: Final = award()
OTHER_FACTS: Final = award(fingerprint="f" * 16)


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> OpenLedger:
    if request.param == "memory":
        return OpenMemoryLedger(FixedClock(NOW))
    pool: Pool = request.getfixturevalue("pool")
    return OpenPostgresLedger(pool, FixedClock(NOW))


# The batches posted one after the other, and the outcome of each award.
BATCHES: Final[dict[str, tuple[list[list[Award]], list[list[Status]]]]] = {
    "nothing": ([[]], [[]]),
    "an award": ([[FIRST]], [[POSTED]]),
    "an award of no points": ([[award(points=0)]], [[POSTED]]),
    "the same award again": ([[FIRST], [FIRST]], [[POSTED], [DUPLICATE]]),
    "twice in one batch": ([[FIRST, FIRST]], [[POSTED, DUPLICATE]]),
    "the same facts after the rates changed": ([[FIRST], [award(points=7)]], [[POSTED], [DUPLICATE]]),
    "other facts": ([[FIRST], [OTHER_FACTS]], [[POSTED], [CONFLICT]]),
    "other facts in one batch": ([[FIRST, OTHER_FACTS, FIRST]], [[POSTED, CONFLICT, DUPLICATE]]),
    "another member's key": (
        [[FIRST], [OTHER_FACTS._replace(member_id="jane"), award(key="k2", member_id="jane")]],
        [[POSTED], [CONFLICT, POSTED]],
    ),
    "the key in another program": ([[FIRST, OTHER_FACTS._replace(program="OVO")]], [[POSTED, CONFLICT]]),
    "old and new together": (
        [[FIRST], [award(key="k0"), FIRST, award(key="k2", program="OVO"), OTHER_FACTS]],
        [[POSTED], [POSTED, DUPLICATE, POSTED, CONFLICT]],
    ),
    "more than a balance holds": (
        [[award(points=MAX_BALANCE)], [award(key="k2", points=1), award(key="k3", points=0)]],
        [[POSTED], [REFUSED, POSTED]],
    ),
    "a refused award among others": (
        [[award(points=-1), award(key="k2"), award(key="k3", member_id="jane")]],
        [[REFUSED, POSTED, POSTED]],
    ),
    "a refused award's key is still free": ([[award(points=-1)], [FIRST]], [[REFUSED], [POSTED]]),
    "refused awards only": ([[award(points=-1), award(key="k2", member_id="ann", points=-2)]], [[REFUSED, REFUSED]]),
    "keys and members of every script": (
        [[award(key="txn:x:Ü 中", member_id="Łukasz 🦊"), award(key="k'\"\\{},NULL", member_id="a,b\\\"{}'c")]],
        [[POSTED, POSTED]],
    ),
}


@pytest.mark.parametrize(("batches", "statuses"), BATCHES.values(), ids=BATCHES.keys())
async def test_what_becomes_of_each_award(
    ledger: OpenLedger, batches: list[list[Award]], statuses: list[list[Status]]
) -> None:
    outcomes = [await ledger.post(batch) for batch in batches]
    assert [[outcome.status for outcome in answered] for answered in outcomes] == statuses
    assert [[outcome.award for outcome in answered] for answered in outcomes] == batches
    contents = await ledger.contents()
    assert is_sound(contents)
    posted = [outcome.transfer for answered in outcomes for outcome in answered if outcome.status is POSTED]
    assert contents.transfers == sorted(transfer for transfer in posted if transfer is not None)
    for outcome in (outcome for answered in outcomes for outcome in answered):
        assert (outcome.transfer is not None) == (outcome.status is POSTED)
        assert (outcome.claim is not None) == (outcome.status in {DUPLICATE, CONFLICT})
        assert outcome.claim is None or outcome.claim in contents.claims
        assert (outcome.fault is not None) == (outcome.status is REFUSED)


async def test_everything_of_an_award_is_kept(ledger: OpenLedger) -> None:
    await ledger.post([FIRST, award(key="k2", points=20, occurred_at=datetime(2026, 5, 11, 0, 0, 0, 1, tzinfo=UTC))])
    first, second = (await ledger.contents()).transfers
    assert first[:3] == ("bob", "GRP", 1)
    assert (first.kind, first.points, first.balance_after, first.key) == (FIRST.kind, 180, 180, FIRST.key)
    assert (first.country, first.occurred_at, first.posted_at) == ("SG", FIRST.occurred_at, NOW)
    assert (first.expires_on, first.explanation) == (FIRST.expires_on, FIRST.explanation)
    assert (first.reverses, first.actor) == (None, None)
    assert (second.seq, second.balance_after, second.occurred_at.microsecond) == (2, 200, 1)


@pytest.mark.parametrize(
    ("moves", "expires_on"),
    [
        ([("2026-07-31", True)], "2026-07-31"),
        ([("2026-07-31", True), ("2026-09-30", True)], "2026-09-30"),
        ([("2026-09-30", True), ("2026-07-31", True)], "2026-09-30"),
        ([("2026-07-31", True), ("2026-09-30", False)], "2026-07-31"),
        ([("2026-07-31", False)], "2026-07-31"),
        ([("2026-07-31", False), ("2026-09-30", False)], "2026-07-31"),
        ([("2026-07-31", False), ("2026-09-30", True)], "2026-09-30"),
    ],
)
@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "one by one"])
async def test_activity_moves_the_expiry_date_forward_and_a_gift_only_sets_it(
    ledger: OpenLedger, moves: list[tuple[str, bool]], expires_on: str, *, together: bool
) -> None:
    awards = [
        award(key=f"k{number}", expires_on=date.fromisoformat(day), activity=activity)
        for number, (day, activity) in enumerate(moves)
    ]
    for batch in [awards] if together else [[each] for each in awards]:
        await ledger.post(batch)
    (account,) = (await ledger.contents()).accounts
    assert account.expires_on == date.fromisoformat(expires_on)


async def test_an_unposted_balance_is_refused_with_its_reason(ledger: OpenLedger) -> None:
    await ledger.post([award(points=MAX_BALANCE)])
    (outcome,) = await ledger.post([award(key="k2", points=1)])
    assert outcome.fault is not None
    assert outcome.fault.reason is Reason.OUT_OF_RANGE


async def test_a_large_batch(ledger: OpenLedger) -> None:
    batch = [award(key=f"k{number % 900}", member_id=neighbour(f"m{number % 37}")) for number in range(1000)]
    outcomes = await ledger.post(batch)
    assert [outcome.status for outcome in outcomes] == [POSTED] * 900 + [DUPLICATE] * 100
    assert is_sound(await ledger.contents())


@pytest.mark.parametrize("seed", range(4))
async def test_every_ledger_decides_alike(pool: Pool, seed: int) -> None:
    chance = random.Random(seed)
    memory, postgres = OpenMemoryLedger(FixedClock(NOW)), OpenPostgresLedger(pool, FixedClock(NOW))
    for _ in range(15):
        batch = [_any_award(chance) for _ in range(chance.randint(0, 40))]
        outcomes, expected = await postgres.post(batch), await memory.post(batch)
        assert list(map(_told, outcomes)) == list(map(_told, expected))
    held, should_hold = await postgres.contents(), await memory.contents()
    assert held.transfers == should_hold.transfers
    assert held.claims == should_hold.claims
    assert [account for account in held.accounts if account.last_seq] == should_hold.accounts


def _told(outcome: AwardOutcome) -> tuple[object, ...]:
    """The outcome, with its fault as text: errors are equal to themselves only."""
    return (*outcome._replace(fault=None), str(outcome.fault))


def _any_award(chance: random.Random) -> Award:
    return award(
        key=f"k{chance.randint(0, 150)}",
        member_id=neighbour(chance.choice(("ann", "bob", "Bob", "bøb", "kim"))),
        program=chance.choice(("GRP", "OVO")),
        country=chance.choice(("SG", "ID")),
        points=chance.choice((0, 1, 250, MAX_BALANCE // 3, -1)),
        expires_on=date(2026, chance.randint(1, 12), 28),
        activity=chance.random() < 0.7,
        fingerprint=chance.choice(("0" * 16, "1" * 16)),
    )

"""The limits of partners, enforced where awards are posted, on every ledger there is."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Final

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.intake.awarding.awarder import Awarder
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits, RejectionReason
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Pool
from abacus.platform.sqs.port import Received
from tests.ledger.ledgers import NOW, OpenLedger, OpenMemoryLedger, OpenPostgresLedger, award, envelope
from tests.support.door import door
from tests.support.fixed_clock import FixedClock
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_quarantine import MemoryQuarantine

POSTED, REJECTED, DUPLICATE, CONFLICT = Status.POSTED, Status.REJECTED, Status.DUPLICATE, Status.CONFLICT
BUDGET, CAP, MEMBER_DAY = (
    RejectionReason.BUDGET_EXHAUSTED,
    RejectionReason.AWARD_CAP,
    RejectionReason.MEMBER_DAY_CAP,
)


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest) -> OpenLedger:
    if request.param == "memory":
        return OpenMemoryLedger(FixedClock(NOW))
    return OpenPostgresLedger(request.getfixturevalue("pool"), FixedClock(NOW))


def grant(key: str, points: int = 10, partner: str = "acme", **changes: object) -> Award:
    return award(key=f"api:{partner}:{key}", points=points, activity=False, **changes)


# Limits, the awards of one batch after the other, and the outcome of each.
CASES: Final[dict[str, tuple[Limits, list[list[Award]], list[list[object]]]]] = {
    "no limits": (Limits(), [[grant("a", 10**12)]], [[POSTED]]),
    "a cap on each award": (Limits(per_award=10), [[grant("a", 11), grant("b", 10)]], [[CAP, POSTED]]),
    "a budget to the point": (
        Limits(per_day=30),
        [[grant("a"), grant("b", 21), grant("c", 20)], [grant("d", 1)]],
        [[POSTED, BUDGET, POSTED], [BUDGET]],
    ),
    "a budget in all": (Limits(in_total=15), [[grant("a")], [grant("b"), grant("c", 5)]], [[POSTED], [BUDGET, POSTED]]),
    "a member's day": (
        Limits(per_member_day=15),
        [[grant("a"), grant("b"), grant("c", member_id="jane")], [grant("d", 5, program="OVO"), grant("e", 1)]],
        [[POSTED, MEMBER_DAY, POSTED], [POSTED, MEMBER_DAY]],
    ),
    "what is rejected spends nothing": (Limits(per_day=10), [[grant("a", 11), grant("b", 10)]], [[BUDGET, POSTED]]),
    "a redelivery spends nothing": (
        Limits(per_day=20),
        [[grant("a"), grant("a")], [grant("a")], [grant("b")]],
        [[POSTED, DUPLICATE], [DUPLICATE], [POSTED]],
    ),
    "a rejection is final for its key": (
        Limits(per_day=10),
        [[grant("a", 11)], [grant("a", 11), grant("a", 1)], [grant("a", 1, fingerprint="f" * 16)]],
        [[BUDGET], [BUDGET, BUDGET], [CONFLICT]],
    ),
    "a rejection is final within its batch": (
        Limits(per_day=10),
        [[grant("a", 11), grant("a", 1)]],
        [[BUDGET, BUDGET]],
    ),
    "another partner's budget": (
        Limits(per_day=10),
        [[grant("a"), grant("a", partner="bits"), grant("b", partner="bits")]],
        [[POSTED, POSTED, POSTED]],
    ),
    "transactions have no partner": (Limits(per_day=10), [[grant("a"), award(points=10**9)]], [[POSTED, POSTED]]),
}


@pytest.mark.parametrize("name", CASES)
async def test_limits(ledger: OpenLedger, name: str) -> None:
    limits, batches, expected = CASES[name]
    await ledger.allow("acme", limits)
    await ledger.allow("bits", Limits())
    verdicts = []
    for batch in batches:
        outcomes = await ledger.post(batch)
        verdicts.append([o.rejection.reason if o.status is REJECTED and o.rejection else o.status for o in outcomes])
    assert verdicts == expected
    allowance = await ledger.allowance("acme")
    posted = [t.points for t in (await ledger.contents()).transfers if t.key.startswith("api:acme:")]
    assert allowance.used == allowance.used_that_day == sum(posted)


async def test_a_partner_whom_nobody_registered_awards_nothing(ledger: OpenLedger) -> None:
    """It had no limits, and so whoever could send a message could award without any."""
    await ledger.allow("acme", Limits(per_day=100))
    outcomes = await ledger.post([grant("a", 10**12, partner="evil"), grant("b")])
    assert [each.status for each in outcomes] == [Status.REFUSED, POSTED]
    assert outcomes[0].fault is not None
    assert outcomes[0].fault.reason is Reason.UNKNOWN_SOURCE


@pytest.mark.parametrize("days", [-1, 1])
async def test_a_day_begins_anew_and_never_comes_back(days: int) -> None:
    """A clock that lags behind goes on with the later day."""
    clock = FixedClock(NOW)
    ledger = OpenMemoryLedger(clock)
    await ledger.allow("acme", Limits(per_day=10, in_total=100))
    await ledger.post([grant("a")])
    clock.set(NOW + timedelta(days=days))
    (outcome,) = await ledger.post([grant("b")])
    assert outcome.status is (POSTED if days > 0 else REJECTED)
    assert (await ledger.allowance("acme")).used == (20 if days > 0 else 10)


async def test_a_budget_is_exact_when_many_post_at_once(pool: Pool) -> None:
    """200 awards against a budget for 50, in batches that race, some of them delivered twice."""
    ledger = OpenPostgresLedger(pool, SystemClock())
    await ledger.allow("acme", Limits(in_total=500))
    awards = [grant(str(number), member_id=f"m{number % 20}") for number in range(200)]
    batches = [awards[start : start + 10] for start in range(0, 200, 5)]
    outcomes = await asyncio.gather(*(ledger.post(batch) for batch in batches))

    final: dict[str, Status] = {}
    for outcome in (each for batch in outcomes for each in batch):
        status = POSTED if outcome.status is DUPLICATE else outcome.status
        assert final.setdefault(outcome.award.key, status) is status, "one key, two fates"
    assert Counter(final.values()) == {POSTED: 50, REJECTED: 150}
    assert (await ledger.allowance("acme")).used == 500
    contents = await ledger.contents()
    assert len(contents.transfers) == 50
    assert await pool.fetchval("select count(*) from rejection") == 150
    assert await pool.fetchval("select sum(used) from allowance_member") == 500


async def test_other_facts_for_a_rejected_key_are_set_aside() -> None:
    ledger, quarantine = OpenMemoryLedger(FixedClock(NOW)), MemoryQuarantine(FixedClock(NOW))
    await ledger.allow("acme", Limits(per_award=1))
    await ledger.post([grant("a")])
    again = grant("a", 1, fingerprint="f" * 16)
    awarder = Awarder(door(FixedClock(NOW)), ledger, MemoryLedger(FixedClock(NOW)), quarantine)
    await awarder.handle([Received("1", "1", envelope(again), 1)])
    (item,) = (held.item for held in quarantine.kept())
    assert (item.reason, item.key) == (Reason.KEY_CONFLICT, "api:acme:a")
    assert (item.fingerprint, item.posted_fingerprint) == ("f" * 16, award().fingerprint)


async def test_posting_registers_an_award_that_nobody_registered(pool: Pool) -> None:
    """The award was accepted while the database was away, by a process that is gone."""
    ledger = OpenPostgresLedger(pool, FixedClock(NOW))
    await ledger.allow("acme", Limits())
    await ledger.post([grant("a"), award(key="txn:rides:1")])
    rows = await pool.fetch("select key, partner_id, points, queued_at from partner_award")
    assert [tuple(row) for row in rows] == [("api:acme:a", "acme", 10, NOW)]


def test_an_allowance_rolls_over() -> None:
    allowance = Allowance(Limits(per_day=10), 10, NOW.date(), 10)
    assert allowance.on(NOW.date()) is allowance
    assert allowance.on(NOW.date() + timedelta(days=1)).used_that_day == 0

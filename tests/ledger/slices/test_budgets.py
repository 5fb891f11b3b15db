"""Budgets of partners of a ledger in slices: each slice has a part of them in hand, and the last point is given out
exactly.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Final

import asyncpg
import pytest

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.allowances import awarded
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.movement import Movement
from abacus.ledger.types.port import AwardOutcome, Status
from abacus.people.types.deed import Deed
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.slices import slice_map_of
from abacus.proof.decide.report import HouseFault, Of
from abacus.proof.verify import verify
from tests.ledger.moves import ACME, adjust, reverse, spend
from tests.ledger.slices.eight import CLOCK, EIGHT, FIRST, MEMBERS, SECOND, bring_back, take_away
from tests.support.awards import NOW, award
from tests.support.fixed_clock import FixedClock
from tests.support.hooks import enter_rejections
from tests.support.logged import limits_logged
from tests.support.waiting import waiting

AWAY: Final = 3
NO_LIMITS: Final = Limits()
POSTED, REJECTED, WAITS = Status.POSTED, Status.REJECTED, Status.WAITS


@pytest.fixture
async def many(pool: Pool, url: str) -> AsyncIterator[Pool]:
    """For several processes at once."""
    assert (await slice_map_of(pool)).slices > 1
    opened = await open_pool(url, size=16)
    yield opened
    await opened.close()


async def register(pool: Pool, limits: Limits = NO_LIMITS, name: str = "acme", clock: Clock = CLOCK) -> PartnerStore:
    made = Partner(name, name, True, True, (), None, 1000, None, NOW, "tests", None)  # noqa: FBT003  # as stored
    store = PartnerStore(pool, clock)
    await store.create(made, limits, LIVE_KEY.new(), also=limits_logged(name, Deed.EDIT_PARTNERS))
    return store


def grant(member: str, key: str, points: int = 10, partner: str = "acme") -> Award:
    return award(key=f"api:{partner}:{key}", member_id=member, points=points, activity=False)


async def statuses(ledger: PostgresLedger, *awards: Award) -> list[Status]:
    return [each.status for each in await ledger.post(awards)]


async def left(pool: Pool) -> str:
    """What a rejection says is left."""
    (told,) = await PostgresLedger(pool, CLOCK).post([grant(FIRST, "what is left", 10**9)])
    assert told.rejection is not None
    return told.rejection.detail


async def is_sound(pool: Pool) -> bool:
    return (await verify(pool, lambda _: None)).clean


@pytest.mark.long
@pytest.mark.parametrize(
    ("limits", "budget"), [("in_total", 495), ("per_day", 495), ("in_total", 1000), ("per_day", 10**6)]
)
async def test_a_budget_holds_over_all_slices(many: Pool, budget: int, limits: str) -> None:
    """Three awarders post overlapping awards to all slices, until everything that is left is given out."""
    await register(many, Limits(**{limits: budget}))
    awards = [grant(f"m{number % 50}", str(number)) for number in range(120)]
    batches = [awards[first : first + 20] for first in range(0, 120, 10)]

    async def work(mine: Sequence[Sequence[Award]]) -> list[AwardOutcome]:
        ledger = PostgresLedger(many, CLOCK)
        return [each for batch in mine for each in await ledger.post(batch)]

    fates: dict[str, Status] = {}
    for outcomes in await asyncio.gather(*(work(batches[number::3]) for number in range(3))):
        for each in outcomes:
            status = POSTED if each.status is Status.DUPLICATE else each.status
            assert fates.setdefault(each.award.key, status) is status, "one key, two fates"
    most = min(budget // 10, 120)
    assert Counter(fates.values()) == Counter({POSTED: most, REJECTED: 120 - most})
    allowance = (await awarded(many))["acme"]
    assert (allowance.used, allowance.used_that_day) == (10 * most, 10 * most)
    assert f"{budget - 10 * most} of the budget of {budget}" in await left(many)
    assert await is_sound(many)


@pytest.mark.long
async def test_what_is_in_hand_is_awarded_without_the_whole(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    """So awards of a partner are posted at the server of their slice, and nobody else's wait for them."""
    await register(pool, Limits(in_total=10**6))
    assert await statuses(ledger, grant(FIRST, "a"), grant(SECOND, "b")) == [POSTED, POSTED]
    await owner.execute("alter table allowance rename to out_of_reach")
    assert await statuses(ledger, grant(FIRST, "c", 500), grant(SECOND, "d")) == [POSTED, POSTED]


async def test_a_partner_whom_nobody_registered_awards_nothing(pool: Pool, ledger: PostgresLedger) -> None:
    await register(pool)
    outcomes = await ledger.post([grant(FIRST, "a"), grant(FIRST, "b", partner="evil"), grant(SECOND, "c")])
    assert [each.status for each in outcomes] == [POSTED, Status.REFUSED, POSTED]


async def test_a_member_of_any_slice_gets_its_limit_of_a_day(pool: Pool, ledger: PostgresLedger) -> None:
    await register(pool, Limits(per_member_day=15, in_total=1000))
    each = [grant(member, f"{member} {number}") for member in MEMBERS for number in range(2)]
    assert await statuses(ledger, *each) == [POSTED, REJECTED] * 8
    assert (await awarded(pool))["acme"].used == 80


async def test_other_limits_hold_for_all_slices_at_once(pool: Pool, ledger: PostgresLedger) -> None:
    store = await register(pool, Limits(in_total=10**6))
    assert await statuses(ledger, *(grant(member, member) for member in MEMBERS)) == [POSTED] * 8
    await store.limit("acme", Limits(in_total=100, per_award=15), also=limits_logged("acme"))
    assert await statuses(ledger, grant(FIRST, "a", 16), grant(SECOND, "b", 15)) == [REJECTED, POSTED]
    over, within = await ledger.post([grant(FIRST, "c", 6), grant(FIRST, "d", 5)])
    assert (over.status, within.status) == (REJECTED, POSTED)
    assert over.rejection is not None
    assert over.rejection.detail == "6 points; 5 of the budget of 100 are left"
    assert (await store.get("acme")).allowance.used == 100
    await store.limit("acme", Limits(), also=limits_logged("acme"))
    assert await statuses(ledger, grant(SECOND, "e", 10**9)) == [POSTED]
    await store.limit("acme", Limits(in_total=10**9 + 101), also=limits_logged("acme"))
    assert await statuses(ledger, grant(FIRST, "f", 2), grant(FIRST, "g", 1)) == [REJECTED, POSTED]
    assert await is_sound(pool)


async def test_other_limits_in_one_slice_are_found(pool: Pool, owner: Connection, ledger: PostgresLedger) -> None:
    await register(pool, Limits(per_award=15))
    assert await statuses(ledger, *(grant(member, member) for member in MEMBERS)) == [POSTED] * 8
    await owner.execute("update slice_3.allowance_part set per_award = 10000")
    report = await verify(pool, lambda _: None)
    assert report.faults == [HouseFault(Of.PARTNER, "acme", "slice 3 has other limits than it")]


async def test_a_day_begins_anew_in_all_slices(pool: Pool) -> None:
    clock = FixedClock(NOW)
    ledger = PostgresLedger(pool, clock)
    await register(pool, Limits(per_day=100), clock=clock)
    assert await statuses(ledger, grant(FIRST, "a", 60), grant(SECOND, "b", 40)) == [POSTED, POSTED]
    assert await statuses(ledger, grant(MEMBERS[2], "c", 1)) == [REJECTED]
    clock.set(NOW + timedelta(days=1))
    assert await statuses(ledger, grant(SECOND, "d", 100)) == [POSTED]
    assert await statuses(ledger, grant(FIRST, "e", 1)) == [REJECTED]
    allowance = (await awarded(pool))["acme"]
    assert (allowance.used, allowance.used_that_day) == (200, 100)
    assert await is_sound(pool)


async def moved(pool: Pool, *movements: Movement) -> list[Status]:
    return [each.status for each in await PostgresMoves(pool, CLOCK).move(movements)]


async def test_movements_of_a_partner_count_in_their_slices(pool: Pool, ledger: PostgresLedger) -> None:
    """What is added is taken from the budget; an award that is taken back can be awarded again, in any slice."""
    await register(pool, Limits(in_total=100))
    assert await statuses(ledger, grant(FIRST, "a", 60)) == [POSTED]
    assert await moved(pool, added(SECOND, 41, "b"), added(SECOND, 40, "c")) == [Status.REFUSED, POSTED]
    assert await statuses(ledger, grant(SECOND, "d", 1)) == [REJECTED]
    assert await moved(pool, reverse("api:acme:a", None, "r", source=ACME.source, member_id=FIRST)) == [POSTED]
    assert await statuses(ledger, grant(SECOND, "e", 61), grant(SECOND, "f", 60)) == [REJECTED, POSTED]
    assert (await awarded(pool))["acme"].used == 100
    assert await is_sound(pool)


def added(member: str, points: int, key: str) -> Movement:
    return adjust(points, f"api:acme:{key}", member_id=member, source=ACME.source)


@pytest.mark.long
async def test_two_partners_of_whom_little_is_left_do_not_wait_for_each_other_for_ever(many: Pool) -> None:
    for name in ("acme", "bits"):
        await register(many, Limits(in_total=400), name)
    batches = [
        [grant(f"m{number}", f"{number}", 10, partner) for partner in order]
        for number in range(60)
        for order in [("acme", "bits") if number % 2 else ("bits", "acme")]
    ]

    async def work(mine: Sequence[Sequence[Award]]) -> None:
        ledger = PostgresLedger(many, CLOCK)
        for batch in mine:
            await ledger.post(batch)

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(batches[number::6]) for number in range(6)))
    assert {name: each.used for name, each in (await awarded(many)).items()} == {"acme": 400, "bits": 400}
    assert await is_sound(many)


async def test_while_a_slice_is_away_others_award_what_is_certain(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    """Nobody knows what it has in hand: when no more than that may be left, awards wait, and are not rejected."""
    store = await register(pool, Limits(in_total=1000))
    assert await statuses(ledger, grant(MEMBERS[AWAY], "a", 100)) == [POSTED]
    tables = ("allowance_part", "allowance_member", "rejection", "account", "claim")
    await take_away(owner, AWAY, *tables)
    assert await statuses(ledger, grant(FIRST, "b", 800), grant(SECOND, "c", 10)) == [POSTED, POSTED]
    assert (await store.get("acme")).allowance.used == 810, "as far as it can be read"
    assert await statuses(ledger, grant(FIRST, "d", 80), grant(SECOND, "e", 95)) == [POSTED, WAITS]
    both = [grant(SECOND, "e", 95), award(key="txn:rides:1", member_id=SECOND)]
    assert await statuses(ledger, *both) == [WAITS, POSTED], "nobody else waits with it"
    assert await statuses(ledger, *both[:1]) == [WAITS]
    assert await moved(pool, added(SECOND, 95, "g"), spend(5, "api:acme:h", SECOND)) == [WAITS, POSTED]
    with pytest.raises(Unavailable):
        await store.limit("acme", Limits(), also=limits_logged("acme"))
    await bring_back(owner, AWAY, *tables)
    assert await statuses(ledger, grant(FIRST, "d", 80)) == [Status.DUPLICATE]
    assert await statuses(ledger, grant(SECOND, "e", 95), grant(SECOND, "f", 10)) == [REJECTED, POSTED]
    assert (await awarded(pool))["acme"].used == 1000


async def test_what_a_slice_has_in_hand_is_not_taken_while_somebody_looks(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    """Who comes second sees what the first has left."""
    await register(pool, Limits(in_total=9999))
    assert await statuses(ledger, grant(FIRST, "a")) == [POSTED]
    async with owner.transaction():
        await owner.execute("update allowance set used = 9999")
        await owner.execute("update slice_0.allowance_part set used = 9999, elsewhere = 0")
        second = asyncio.create_task(statuses(ledger, grant(FIRST, "b", 1)))
        await waiting(pool, second)
    assert await second == [REJECTED]


async def test_rejections_of_a_slice_have_places_and_each_is_told(pool: Pool, ledger: PostgresLedger) -> None:
    """Those of transactions that wrote nothing else as well."""
    await register(pool, Limits(per_award=1))
    await WebhookStore(pool, CLOCK).set("acme", "https://hooks.example/", new_secret())
    for key in ("z", "a"):
        assert await statuses(ledger, grant(FIRST, key), grant(SECOND, key)) == [REJECTED, Status.CONFLICT]
        assert await enter_rejections(pool) == 1
    assert await enter_rejections(pool) == 0
    places = await pool.fetch("select key, xid::text from slice_0.rejection order by xid")
    assert [tuple(row) for row in places] == [("api:acme:z", "1"), ("api:acme:a", "2")]


async def test_a_slice_refuses_rejections_of_members_of_another(pool: Pool) -> None:
    async with pool.acquire(schema=EIGHT.schema_of(1)) as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="is no member of slice_1"):
            await connection.execute(
                "insert into rejection values ('k', $1, 'GRP', 1, '', 'award-cap-exceeded', '', now(), '1')", FIRST
            )


async def test_posting_for_others_does_not_wait_for_a_budget(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    await register(pool, Limits(in_total=10**6))
    await register(pool, Limits(in_total=10**6), "bits")
    await statuses(ledger, grant(FIRST, "a"), grant(FIRST, "b", partner="bits"))
    async with owner.transaction(), asyncio.timeout(5):
        await owner.execute("select from slice_0.allowance_part where partner_id = 'acme' for update")
        assert await statuses(ledger, grant(FIRST, "c", partner="bits")) == [POSTED]

"""What is read of members who ask for offers: by one statement, in whichever slices they are."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest

from abacus.engage.limits.types import Amounts
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.offers.members import Known, Members
from abacus.ledger.store.read import STANDING
from abacus.ledger.types.account import AccountBalance
from abacus.platform.postgres import Pool
from abacus.platform.reading.caches import Caches
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.segments.numbers import MemberNumbers
from tests.engage.offers.taken import GAIN, MINUTES, NOW, Desk, desk, held, redeeming, releasing, wish
from tests.support.fixed_clock import FixedClock

PROGRAM = "GRP"
TODAY = date(2026, 3, 2)
PIECE = Amounts(1, 0, GAIN.saves)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
async def members(pool: Pool, clock: FixedClock) -> AsyncIterator[Members]:
    opened = Members(pool, standing=STANDING, clock=clock, caches=Caches(clock))
    yield opened
    await opened.close()


@pytest.fixture
def taking(pool: Pool, clock: FixedClock) -> Desk:
    return desk(pool, clock)


async def test_all_that_is_known_of_a_member(members: Members, pool: Pool, clock: FixedClock) -> None:
    stranger = Known("member", None, frozenset(), {}, None, NOW)
    assert await members.of(("bob", PROGRAM)) == stranger
    account = "insert into account (member_id, program, country, balance) values ('bob', $1, 'SG', 70)"
    await pool.execute(account, PROGRAM)
    await MembershipStore(pool, clock).set(("bob", PROGRAM), "gold", reason="", actor="person:ann")
    await InvitationStore(pool).add(7, ["bob"])
    (number,) = (await MemberNumbers(pool).give(["bob"])).values()
    known = Known("gold", AccountBalance(70, "SG"), frozenset({7}), {}, number, NOW)
    assert await members.of(("bob", PROGRAM)) == known
    assert await members.of(("ann", PROGRAM)) == stranger


async def test_what_a_member_has_taken(members: Members, taking: Desk, clock: FixedClock) -> None:
    redeemed, released = await held(taking, wish("1")), await held(taking, wish("2"))
    await taking.redemptions.settle(redeeming(redeemed))
    await taking.redemptions.settle(releasing(released))
    await held(taking, wish("3"))
    used = []
    for later in (timedelta(), MINUTES, timedelta(days=30)):
        clock.set(NOW + later)
        used.append((await members.of(("bob", PROGRAM))).used)
    of_today, redeemed_alone = {TODAY: PIECE.plus(PIECE)}, {TODAY: PIECE}
    assert used == [{"lunch_20": of_today}, {"lunch_20": redeemed_alone}, {"lunch_20": {None: PIECE}}]
    assert (await members.of(("ann", PROGRAM))).used == {}


async def test_nobody_is_remembered_for_long(pool: Pool, clock: FixedClock) -> None:
    now = 0.0
    caches = Caches(clock, settings={}, monotonic=lambda: now)
    members = Members(pool, standing=STANDING, clock=clock, caches=caches)
    await pool.execute(
        "insert into account (member_id, program, country, balance) values ('bob', $1, 'SG', 70)", PROGRAM
    )
    balances = []
    for now in (0, 3.9, 5):  # noqa: B007  # the clock of the caches
        balances.append((await members.of(("bob", PROGRAM))).account)
        await pool.execute("update account set balance = balance + 1 where member_id = 'bob'")
    await members.close()
    assert balances == [AccountBalance(70, "SG"), AccountBalance(70, "SG"), AccountBalance(72, "SG")]

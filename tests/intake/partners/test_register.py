"""The register tells of an award what was posted, and not what was expected of it."""

from datetime import UTC, date, datetime

import pytest

from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import AwardStatus, Register
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.postgres import Pool
from tests.support.awards import award
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

JULY, NOVEMBER = date(2026, 7, 31), date(2026, 11, 30)
CLOCK = FixedClock(datetime(2026, 6, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(("lifetime", "holds"), [(False, JULY), (True, NOVEMBER)], ids=["by activity", "by lots"])
async def test_the_day_that_holds_for_a_gift_is_told(pool: Pool, *, lifetime: bool, holds: date) -> None:
    """The member has points until July, and is given some that would be good until November by themselves."""
    ledger, register = PostgresLedger(pool, CLOCK), Register(pool, CLOCK)
    await pool.execute("insert into allowance (partner_id) values ('acme')")
    await ledger.post([award(expires_on=JULY, lifetime=lifetime)])
    gift = award(key="api:acme:k", points=10, expires_on=NOVEMBER, activity=False, lifetime=lifetime)
    entry = Entry.of("acme", gift)
    await register.take([entry])
    await register.queued([entry.award_id])
    queued = (await register.states([entry.award_id]))[entry.award_id]
    assert (queued.status, queued.award.expires_on) == (AwardStatus.QUEUED, NOVEMBER)
    await ledger.post([gift])
    posted = (await register.states([entry.award_id]))[entry.award_id]
    assert (posted.status, posted.award.expires_on) == (AwardStatus.POSTED, holds)

"""Members are told 30 and 7 days before points expire: once, by their country's own day, in batches."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import orjson
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.notify.expiring import NEXT
from abacus.engage.notify.expiry_notices import ExpiryReminders, ReminderRun
from abacus.engage.notify.notices import Notices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardStore
from tests.engage.notify.telling import gather
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.slices import IN_A_SLICE, SLICES, home_of

JULY = date(2026, 7, 31)
BOOK = CardBook(PublishedCard(card, 1) for card in example_cards())


async def account(pool: Pool, member: str, **changes: Any) -> None:
    row = {"program": "GRP", "country": "SG", "balance": 60, "held": 0, "expires_on": JULY, **changes}
    await pool.execute(
        "insert into account (member_id, program, country, balance, held, expires_on) values ($1, $2, $3, $4, $5, $6)",
        member,
        *row.values(),
    )


async def run(pool: Pool, at: datetime, country: str | None = "SG") -> list[ReminderRun]:
    clock = FixedClock(at)
    return await ExpiryReminders(pool, Notices(pool, clock), clock, gathered_for=timedelta(0)).run(BOOK, country)


async def notices(pool: Pool) -> dict[str, list[str]]:
    rows = await pool.fetch("select member_id, event_id from notice order by member_id, event_id")
    by_member: dict[str, list[str]] = {}
    for member, event in rows:
        by_member.setdefault(member, []).append(event)
    return by_member


def noon(day: int) -> datetime:
    """In Singapore."""
    return datetime(2026, 7, day, 4, tzinfo=UTC)


async def test_each_stage_is_told_once_however_often_the_job_runs(pool: Pool) -> None:
    await account(pool, "bob")
    assert (await run(pool, datetime(2026, 6, 30, 4, tzinfo=UTC)))[0].accounts == 0
    assert [(await run(pool, noon(day)))[0].entered for day in range(1, 32)] == [1] + [0] * 22 + [1] + [0] * 7
    assert (await run(pool, datetime(2026, 8, 1, 4, tzinfo=UTC)))[0].accounts == 0
    assert await notices(pool) == {"bob": ["expiring:GRP:2026-07-31:30", "expiring:GRP:2026-07-31:7"]}
    first = orjson.loads(await pool.fetchval("select part from notice where event_id like '%:30'"))
    assert (first["points"], first["days"], first["expires_on"]) == (60, 30, "2026-07-31")


async def test_a_missed_day_is_made_up_for(pool: Pool) -> None:
    await account(pool, "bob")
    await run(pool, noon(20))
    await run(pool, noon(29))
    assert len((await notices(pool))["bob"]) == 2
    days = await pool.fetch("select (part->>'days')::int from notice order by 1")
    assert [row[0] for row in days] == [2, 11]


async def test_who_is_told(pool: Pool) -> None:
    await account(pool, "bob")
    await account(pool, "bob", program="OVO")
    await account(pool, "nothing", balance=0)
    await account(pool, "held", held=60)
    await account(pool, "half", held=20)
    await account(pool, "never", expires_on=None)
    await account(pool, "later", expires_on=date(2026, 8, 31))
    await account(pool, "gone", expires_on=date(2026, 6, 30))
    await account(pool, "jane", country="ID")
    assert await run(pool, noon(1)) == [ReminderRun("SG", date(2026, 7, 1), 3, 3)]
    assert await notices(pool) == {
        "bob": ["expiring:GRP:2026-07-31:30", "expiring:OVO:2026-07-31:30"],
        "half": ["expiring:GRP:2026-07-31:30"],
    }
    assert await pool.fetchval("select part->>'points' from notice where member_id = 'half'") == "40"


async def test_the_day_is_the_countrys_own(pool: Pool) -> None:
    await account(pool, "bob")
    await account(pool, "jane", country="ID", program="OVO")
    done = await run(pool, datetime(2026, 6, 30, 16, 30, tzinfo=UTC), None)  # half past midnight in Singapore only
    assert {each.country: (each.today.day, each.entered) for each in done if each.country in {"SG", "ID"}} == {
        "SG": (1, 1),
        "ID": (30, 0),
    }


async def test_a_member_who_moved_the_date_is_told_of_the_new_one(pool: Pool) -> None:
    await account(pool, "bob")
    await run(pool, noon(1))
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection:
        await connection.execute("update account set expires_on = '2026-08-31'")
    assert (await run(pool, noon(24)))[0].accounts == 0
    await run(pool, datetime(2026, 8, 2, 4, tzinfo=UTC))
    assert await notices(pool) == {"bob": ["expiring:GRP:2026-07-31:30", "expiring:GRP:2026-08-31:30"]}


async def test_a_run_that_was_cut_off_goes_on_in_batches(pool: Pool) -> None:
    await pool.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select 'm' || n, 'GRP', 'SG', 5, $1 from generate_series(1, 2500) n",
        JULY,
    )
    seen: list[ReminderRun] = []

    def cut(done: ReminderRun) -> None:
        seen.append(done)
        if len(seen) == 2:
            raise KeyboardInterrupt

    clock = FixedClock(noon(1))
    with pytest.raises(KeyboardInterrupt):
        await ExpiryReminders(pool, Notices(pool, clock), clock, gathered_for=timedelta(0)).run(
            BOOK, "SG", on_progress=cut
        )
    first, second = (each.entered for each in seen)
    assert (first, second) == (1000, 2000) if SLICES == 1 else 500 < first < second <= 2000
    assert await run(pool, noon(1)) == [ReminderRun("SG", date(2026, 7, 1), 2500, 2500 - second)]
    gathered = await gather(Notices(pool, SystemClock()))
    assert gathered.notifications == (1000 if SLICES == 1 else 2500), "at most 1,000 of each slice"


async def test_the_scan_goes_along_the_index_without_sorting(pool: Pool, database_url: str) -> None:
    import asyncpg  # noqa: PLC0415  # the owner, who may make an index

    owner = await asyncpg.connect(database_url, server_settings=IN_A_SLICE)
    await owner.execute(
        "create index if not exists account_country_expires_on_member_id_program_idx"
        " on account (country, expires_on, member_id, program)"
    )
    await owner.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select 'm' || n, 'GRP', 'SG', 5, $1::date + n % 3 * 31 from generate_series(1, $2) n"
        f" where abacus_slice_of('m' || n, {SLICES}) = 0",
        JULY,
        60_000 * SLICES,
    )
    await owner.execute("analyze account")
    first = date(2026, 7, 1)
    text, *values = NEXT(country="SG", first=first, last=JULY, expires_on=first, member_id="", program="", most=1000)
    rows = await owner.fetch(f"explain {text}", *values)
    await owner.close()
    plan = "\n".join(row[0] for row in rows)
    assert "account_country_expires_on_member_id_program_idx" in plan
    assert "Sort" not in plan


async def test_the_command(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    soon = (SystemClock().now() + timedelta(days=5)).date()
    await account(pool, "bob", expires_on=soon)
    ran = await abacus("notify", "expiring", "--json", env=env)
    assert ran.code == 0
    by_country = {each["country"]: each for each in ran.json}
    assert set(by_country) == {"ID", "MY", "PH", "SG", "TH", "VN"}
    assert (by_country["SG"]["accounts"], by_country["SG"]["entered"]) == (1, 1)
    again = await abacus("notify", "expiring", "--country", "SG", env=env)
    assert (again.code, "Points that will expire" in again.out) == (0, True)
    assert await pool.fetchval("select count(*) from notice") == 1
    unknown = await abacus("notify", "expiring", "--country", "ZZ", env=env)
    assert (unknown.code, unknown.err) == (
        1,
        "abacus: there is no rate card of 'ZZ'; `abacus rates list` prints all scopes\n",
    )


async def test_a_country_whose_card_is_not_in_force_yet(pool: Pool) -> None:
    with pytest.raises(Refused, match="is before the first rate card of SG"):
        await run(pool, datetime(2001, 7, 1, tzinfo=UTC))
    assert await run(pool, datetime(2001, 7, 1, tzinfo=UTC), None) == []

"""The end of a period as a job: complete though it is killed, done once though it is run again, one job at a time."""

import asyncio
from datetime import UTC, date, datetime

import asyncpg
import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.platform.postgres import Pool, open_pool
from abacus.programs.tiers.roll import Roll, Run, lapsed_next
from abacus.programs.tiers.store import MembershipStore
from tests.programs.tiers.cards import book, card
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.keeping import AUGUST, FixedCards, earned, everything, keeper, tiers, told
from tests.support.proxy import proxied
from tests.support.slices import IN_A_SLICE, SLICES, neighbour

END_OF_H1, END_OF_H2 = date(2026, 6, 30), date(2026, 12, 31)
LAST_MOMENT = datetime(2026, 12, 31, 15, 59, 59, tzinfo=UTC)  # in Singapore
NEW_YEAR = datetime(2026, 12, 31, 16, tzinfo=UTC)


def rolling(pool: Pool, at: datetime = NEW_YEAR, **changed: object) -> Roll:
    return Roll(pool, book(), FixedClock(at), **changed)  # type: ignore[arg-type]  # the parameters that a test changes


async def three_members(pool: Pool) -> None:
    """A member who stayed away, one who earned less, and one who earned the same again."""
    await keeper(pool).handle(
        [
            earned("away", 1, 300),
            earned("less", 1, 1500),
            earned("less", 2, 300, AUGUST),
            earned("same", 1, 300),
            earned("same", 2, 300, AUGUST),
        ]
    )


async def test_a_period_is_ended_once_and_not_before_it_is_over(pool: Pool) -> None:
    await three_members(pool)
    (first,) = await rolling(pool, LAST_MOMENT).due("SG")
    assert (first.through, first.found, first.stepped_down) == (END_OF_H1, 0, 0)
    assert (await tiers(pool))["away"] == ("silver", END_OF_H2)

    (run,) = await rolling(pool).due("SG")
    assert run == Run("SG", END_OF_H2, 2, 2, 0, NEW_YEAR, NEW_YEAR)
    june = date(2027, 6, 30)
    assert await tiers(pool) == {"away": ("member", None), "less": ("silver", june), "same": ("silver", june)}
    assert [change for change in await told(pool) if change[4] == "period end"] == [
        ("away", 2, "silver", "member", "period end"),
        ("less", 2, "gold", "silver", "period end"),
    ]
    once = await everything(pool), await told(pool)
    assert await rolling(pool).due("SG") == []
    assert (await everything(pool), await told(pool)) == once
    assert await rolling(pool).rolled_through("SG") == END_OF_H2
    assert await rolling(pool).rolled_through("TH") is None


async def test_each_country_by_its_own_clock(pool: Pool) -> None:
    cards = book(card(), card("ID", timezone="Asia/Jakarta"))
    await keeper(pool, FixedCards(cards)).handle([earned("bob", 1, 300), earned("jane", 1, 300, country="ID")])
    job = Roll(pool, cards, FixedClock(NEW_YEAR))
    assert cards.countries() == ["ID", "SG"]
    for country in cards.countries():
        await job.due(country)
    assert await tiers(pool) == {"bob": ("member", None), "jane": ("silver", END_OF_H2)}
    await Roll(pool, cards, FixedClock(datetime(2026, 12, 31, 17, tzinfo=UTC))).due("ID")
    assert (await tiers(pool))["jane"] == ("member", None)


MEMBERS = [
    neighbour(f"m{number:04}-") for number in range(60)
]  # in one slice, so that batches are as large as asked for


async def many(pool: Pool, count: int) -> None:
    await keeper(pool).handle([earned(member, 1, 300 + number) for number, member in enumerate(MEMBERS[:count])])


class Killed(Exception):
    """The job ends here."""


@pytest.mark.parametrize("batches", [0, 1, 2, 4])
async def test_killed_at_any_batch_and_run_again_the_run_ends_complete(pool: Pool, batches: int) -> None:
    await many(pool, 40)
    done = 0

    def kill(run: Run) -> None:
        nonlocal done
        done += 1
        assert (run.found, run.stepped_down, run.finished_at) == (40, 10 * done, None)
        if done > batches:
            raise Killed

    if batches < 4:
        with pytest.raises(Killed):
            await rolling(pool, progress=kill, batch=10).due("SG")
        assert await pool.fetchval("select count(*) from account_tier where tier = 'silver'") == 40 - 10 * done
    else:
        await rolling(pool, batch=10).due("SG")
    # The next run is weeks late; first it ends the period that was broken off, then those that are due since.
    later = datetime(2027, 7, 3, tzinfo=UTC)
    runs = await rolling(pool, later).due("SG")
    assert [(run.through, run.found, run.stepped_down, run.finished_at) for run in runs if run.found] == (
        [(END_OF_H2, 40, 40, later)] if batches < 4 else []
    )
    assert runs[-1].through == date(2027, 6, 30)
    assert set((await tiers(pool)).values()) == {("member", None)}
    assert len(await told(pool)) == 80
    assert await pool.fetchval("select sum(stepped_down)::int from tier_roll") == 40


async def test_the_database_goes_away_in_the_middle(pool: Pool, database_url: str) -> None:
    await many(pool, 30)
    async with proxied(database_url) as (proxy, url):
        through = await open_pool(url, size=2)
        cutting: list[asyncio.Task[None]] = []
        try:
            job = rolling(through, progress=lambda _: cutting.append(asyncio.create_task(proxy.cut())), batch=10)
            with pytest.raises(Unavailable):
                await job.due("SG")
        finally:
            through.terminate()
        await asyncio.gather(*cutting)
    await until(lambda: _nobody_rolls(pool))
    (run,) = await rolling(pool).due("SG")
    assert (run.found, run.stepped_down) == (30, 30)
    assert len(await told(pool)) == 60


async def _nobody_rolls(pool: Pool) -> bool:
    """The server ends a session that was cut off when it notices, and its lease with it."""
    return not await pool.fetchval("""
        select exists (
            select from pg_locks where locktype = 'advisory'
            and database = (select oid from pg_database where datname = current_database())
        )
    """)


async def test_a_second_run_is_refused_while_one_is_under_way(pool: Pool) -> None:
    await three_members(pool)
    async with rolling(pool)._alone("SG"):  # noqa: SLF001  # a run that does not end by itself
        with pytest.raises(Refused, match="the tiers of SG are being rolled already"):
            await rolling(pool).due("SG")
        async with rolling(pool)._alone("TH"):  # noqa: SLF001  # the same
            pass
    assert len(await rolling(pool).due("SG")) == 1


async def test_who_earns_while_the_job_runs_is_stepped_down_once(pool: Pool) -> None:
    """The keeper and the job meet the same accounts; every change follows on the one before."""
    await many(pool, 60)
    under_way = asyncio.Event()

    async def earn() -> None:
        await under_way.wait()  # who has earned the tier again before that day is over keeps it
        for seq in range(2, 5):
            for start in range(0, 60, 15):
                records = [earned(member, seq, 100, NEW_YEAR) for member in MEMBERS[start : start + 15]]
                await keeper(pool).handle(records)

    await asyncio.gather(rolling(pool, progress=lambda _: under_way.set(), batch=5).due("SG"), earn())
    assert set((await tiers(pool)).values()) == {("silver", date(2027, 12, 31))}
    changes = await told(pool)
    steps = [(change[2], change[3]) for change in changes]
    assert {steps[place : place + 3] == [("member", "silver"), ("silver", "member"), ("member", "silver")]
            for place in range(0, 180, 3)} == {True}  # fmt: skip
    assert len(changes) == 180


async def test_a_tier_of_a_policy_that_is_gone_still_ends(pool: Pool) -> None:
    without = card(since=datetime(2026, 9, 1, tzinfo=UTC), tier_policy=None)
    cards = book(card(), without)
    await keeper(pool, FixedCards(cards)).handle([earned("bob", 1, 300)])
    assert await Roll(pool, cards, FixedClock(LAST_MOMENT)).due("SG") == []
    (run,) = await Roll(pool, cards, FixedClock(NEW_YEAR)).due("SG")
    assert (run.through, run.stepped_down) == (END_OF_H2, 1)
    assert await tiers(pool) == {"bob": ("member", None)}


async def test_a_country_whose_first_card_is_to_come_has_nothing_due(pool: Pool) -> None:
    assert await Roll(pool, book(card(since=NEW_YEAR)), FixedClock(LAST_MOMENT)).due("SG") == []


async def test_an_override_outlasts_the_period(pool: Pool) -> None:
    store = MembershipStore(pool, FixedClock(NEW_YEAR))
    await keeper(pool).handle([earned("bob", 1, 300)])
    await store.set(("bob", "GRP"), "gold", reason="x", actor="x")
    (run,) = await rolling(pool).due("SG")
    assert run.stepped_down == 1
    assert await store.tiers_of([("bob", "GRP")]) == {("bob", "GRP"): "gold"}
    assert await store.clear(("bob", "GRP"), reason="x", actor="x") == "member"


async def test_who_is_due_is_found_by_an_index(pool: Pool, database_url: str) -> None:
    owner = await asyncpg.connect(database_url, server_settings=IN_A_SLICE)
    try:
        await owner.execute(
            "insert into account_tier (member_id, program, tier, country, until)"
            " select 'm' || n, 'GRP', 'silver', 'SG', date '2026-12-31' + (n % 10) * 181"
            f" from generate_series(1, {20000 * SLICES}) n where abacus_slice_of('m' || n, {SLICES}) = 0"
        )
        await owner.execute("analyze account_tier")
        statement, *values = lapsed_next(1000)(
            country="SG", through=END_OF_H2, until=date.min, member_id="", program=""
        )
        plan = await owner.fetch(f"explain {statement}", *values)
        text = "\n".join(row[0] for row in plan)
        assert "Index Only Scan using account_tier_country_until_member_id_program_idx" in text
        assert "Sort" not in text
    finally:
        await owner.close()

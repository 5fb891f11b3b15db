"""Tiers of a ledger in slices: each lies with its member, and a slice that is away keeps nobody else waiting."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

import asyncpg
import pytest

from abacus.core.errors import Unavailable
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.post import PostgresLedger
from abacus.platform import slices
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Connection, Pool
from abacus.programs.tiers.decide.heard import heard_in
from abacus.programs.tiers.publish_changes import change_publisher
from abacus.programs.tiers.roll import Roll, Run
from abacus.programs.tiers.store import MembershipStore
from tests.ledger.slices.eight import EIGHT, FIRST, MEMBERS, bring_back, gift, take_away
from tests.programs.tiers.cards import book
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.keeping import earned, keeper
from tests.support.stepping import all_steps

ACCOUNTS: Final = [(member, "GRP") for member in MEMBERS]
CLOCK: Final = FixedClock(datetime(2026, 12, 1, tzinfo=UTC))  # later than the keeper's
NEW_YEAR: Final = datetime(2026, 12, 31, 16, tzinfo=UTC)  # in Singapore
AWAY: Final = 3


class Broker:
    """Keeps what is published."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def connect(self) -> None:
        """It is there."""

    async def publish(self, _topic: str, messages: Sequence[StreamMessage]) -> None:
        self.keys += [message.key.decode() for message in messages if message.key is not None]


class Killed(Exception):
    """The job ends here."""


async def all_earn(pool: Pool, points: int = 300) -> None:
    await keeper(pool).handle([earned(member, 1, points) for member in MEMBERS])


async def test_each_lies_with_its_member(pool: Pool, owner: Connection, ledger: PostgresLedger) -> None:
    await ledger.post([gift(member, f"k-{member}") for member in MEMBERS])
    await all_earn(pool)
    for number, member in enumerate(MEMBERS):
        for table in ("account_tier", "tier_tally", "tier_change"):
            rows = await owner.fetch(f"select member_id from slice_{number}.{table}")
            assert [row[0] for row in rows] == [member]
    store = MembershipStore(pool, CLOCK)
    assert await store.tiers_of(ACCOUNTS) == dict.fromkeys(ACCOUNTS, "silver")
    await store.set(ACCOUNTS[5], "gold", reason="a wedding", actor="jane")
    (shown,) = await store.show(MEMBERS[5])
    assert (shown.known.tier, shown.known.account.tier) == ("gold", "silver")
    assert [each.to_tier for each in await store.history(MEMBERS[5], 10)] == ["gold", "silver"]
    ((holding,), (then,)) = (
        await MemberReader(pool).holdings(MEMBERS[5]),
        await MemberReader(pool).as_of(MEMBERS[5], CLOCK.now()),
    )
    assert (holding.tier, then.tier) == ("gold", "gold")
    assert await store.clear(ACCOUNTS[5], reason="over", actor="jane") == "silver"


@pytest.mark.parametrize("table", ["account_tier", "membership"])
async def test_a_slice_refuses_members_of_another(pool: Pool, table: str) -> None:
    rows = {"account_tier": "('GRP', 'silver')", "membership": "('GRP', 'gold', 'x', 'x', now())"}
    columns = {"account_tier": "program, tier", "membership": "program, tier, reason, actor, set_at"}
    async with pool.acquire(schema=EIGHT.schema_of(1)) as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="a member of another slice is no member of slice_1"):
            await connection.execute(
                f"insert into {table} (member_id, {columns[table]}) values ('{FIRST}', {rows[table][1:]}"
            )


async def test_the_tiers_of_other_slices_are_read_while_one_is_away(pool: Pool, owner: Connection) -> None:
    await all_earn(pool)
    store = MembershipStore(pool, CLOCK)
    await owner.execute("drop view public.membership")  # it would stand in for the table
    await owner.execute(f"alter table slice_{AWAY}.membership rename to away")
    there = [account for account in ACCOUNTS if account[0] != MEMBERS[AWAY]]
    assert await store.tiers_in_reach(ACCOUNTS) == dict.fromkeys(there, "silver")
    assert await store.tiers_of(there) == dict.fromkeys(there, "silver")
    await store.probe()
    for reading in (store.tiers_of(ACCOUNTS), store.tiers_in_reach([ACCOUNTS[AWAY]])):
        with pytest.raises(Unavailable):
            await reading
    for number in set(range(8)) - {AWAY}:
        await owner.execute(f"alter table slice_{number}.membership rename to away")
    with pytest.raises(Unavailable):
        await store.probe()


async def test_a_keeper_passes_over_a_slice_that_is_away_and_comes_back_to_it(pool: Pool, owner: Connection) -> None:
    """What it heard of the others then comes again, and changes nothing."""
    counting = keeper(pool)
    first, second = [[earned(member, seq, 150) for member in MEMBERS] for seq in (1, 2)]
    await take_away(owner, AWAY, "account_tier", "tier_tally")
    assert await counting.handle(first) == [first[AWAY]]
    await bring_back(owner, AWAY, "account_tier", "tier_tally")
    with pytest.raises(StartAgain, match="the server of slice 3 is back"):
        await counting.handle(second)
    for batch in (first, second):
        assert await counting.handle(batch) == ()
    earned_by_all = await slices.rows(pool, ("select member_id, earned from tier_tally",))
    assert dict(map(tuple, earned_by_all)) == dict.fromkeys(MEMBERS, 300)


async def test_nothing_of_a_slice_is_done_before_what_stayed_behind(pool: Pool, owner: Connection) -> None:
    """Also while nobody has seen yet that its server is there again."""
    done: list[int] = []

    async def work(slice_: slices.Slice, _: Sequence[str]) -> None:
        async with slice_.at() as connection:
            await connection.execute("select from account_tier")
        done.append(slice_.number)

    async def come(passed_over: PassedOver) -> list[int]:
        done.clear()
        await passed_over.split(MEMBERS, work, member_of=str)
        return sorted(done)

    passed_over = PassedOver(pool, look_every_s=3600)
    await take_away(owner, AWAY, "account_tier")
    others = [number for number in range(8) if number != AWAY]
    assert await come(passed_over) == others
    await passed_over.look()
    await bring_back(owner, AWAY, "account_tier")
    assert await come(passed_over) == others
    await passed_over.look()
    assert await passed_over.behind([earned(member, 1, 10) for member in MEMBERS], heard_in) == [
        earned(MEMBERS[AWAY], 1, 10)
    ]
    assert await come(PassedOver(pool)) == [*range(8)]


async def test_a_keeper_waits_for_what_passes_and_counts_once(pool: Pool, owner: Connection) -> None:
    """The server of the slice is there."""
    await owner.execute("drop view public.tier_calendar")
    await owner.execute(f"alter table slice_{AWAY}.tier_calendar rename to away")
    counting = asyncio.create_task(all_earn(pool))
    await until(lambda: _has(owner, AWAY - 1))
    assert not counting.done()
    await owner.execute(f"alter table slice_{AWAY}.away rename to tier_calendar")
    await counting
    await all_earn(pool)
    earned_by_all = await owner.fetch("select member_id, earned from tier_tally")
    assert dict(map(tuple, earned_by_all)) == dict.fromkeys(MEMBERS, 300)


async def _has(owner: Connection, number: int) -> bool:
    return bool(await owner.fetchval(f"select exists(select from slice_{number}.account_tier)"))


@pytest.mark.parametrize("steps", [0, 1, 7, 8])
async def test_the_end_of_a_period_that_was_broken_off_goes_on_in_each_slice(pool: Pool, steps: int) -> None:
    await all_earn(pool)
    done: list[Run] = []

    def progress(run: Run) -> None:
        done.append(run)
        if len(done) > steps:
            raise Killed

    if steps < 8:
        with pytest.raises(Killed):
            await Roll(pool, book(), FixedClock(NEW_YEAR), progress=progress).due("SG")
        assert await Roll(pool, book(), FixedClock(NEW_YEAR)).rolled_through("SG") == date(2026, 12, 31)
    (run,) = await Roll(pool, book(), FixedClock(NEW_YEAR)).due("SG")
    assert [(each.found, each.stepped_down) for each in done] == [(8, n + 1) for n in range(len(done))]
    assert run == Run("SG", date(2026, 12, 31), 8, 8, 0, NEW_YEAR, NEW_YEAR)
    assert await Roll(pool, book(), FixedClock(NEW_YEAR)).due("SG") == []
    assert set((await MembershipStore(pool, CLOCK).tiers_of(ACCOUNTS)).values()) == {"member"}


async def test_each_slice_publishes_its_changes(pool: Pool) -> None:
    await all_earn(pool)
    broker = Broker()
    for number in range(8):
        health = WorkerHealth("tierkeeper")
        publishing = change_publisher(pool, broker, "tiers", CLOCK, health, schema=EIGHT.schema_of(number))
        assert await all_steps(pool, publishing) == 1
    assert broker.keys == MEMBERS

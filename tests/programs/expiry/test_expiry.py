"""The month's end on the real stack: who stayed away loses what lapsed, who came back keeps it, once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from abacus.cli.examples import example_cards
from abacus.core.errors import Reason, Refused, Unavailable
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award import Award
from abacus.ledger.types.movement import Spend
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import EXPIRY_QUEUE
from abacus.platform.sqs.port import Queue, Received, Unsent
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.expirer import Expirer
from abacus.programs.expiry.preview import Expected, preview
from abacus.programs.expiry.runs import ExpiryRuns, Run
from abacus.programs.expiry.sweep import MonthEndJob, Task, of_all_due, of_month
from abacus.programs.expiry.sweeping import FIND, FIND_PLANS, Lapsing
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from tests.support.awards import award
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, completed, until
from tests.support.memory_queue import MemoryQueue
from tests.support.waiting import waiting

SINGAPORE = ZoneInfo("Asia/Singapore")
JULY = Task("SG", Month(2026, 7), SINGAPORE)
AUGUST = datetime(2026, 7, 31, 16, 0, 1, tzinfo=UTC)  # a second into it, in Singapore
NAMES = ("adam", "bob", "eve", "jane")


def earned(member: str, *, points: int = 100, until_day: date = date(2026, 7, 31), key: str = "", **more: Any) -> Award:
    return award(
        key=key or f"txn:rides:{member}-{until_day}", member_id=member, points=points, expires_on=until_day, **more
    )


class Line(MemoryQueue):
    """The expiry queue; it can fail at its n-th call."""

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__("expiry")
        self.calls = 0
        self._fails_at = fails_at

    async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
        self.calls += 1
        if self.calls == self._fails_at:
            raise Unsent(self.name, "cut off", list(bodies))
        await super().send(bodies, delay_s=delay_s)


class Office:
    """What a month's end needs, on a database."""

    def __init__(self, pool: Pool, now: datetime = AUGUST) -> None:
        self.pool = pool
        self.clock = FixedClock(now)
        self.ledger = PostgresLedger(pool, self.clock)
        self.queue = Line()
        self.runs = ExpiryRuns(pool)

    async def sweep(self, task: Task = JULY, *, queue: Queue | None = None, again: bool = False) -> Run:
        return await MonthEndJob(self.pool, self.queue if queue is None else queue, self.clock).run(
            task, lambda _: None, again=again
        )

    async def expire(self) -> None:
        expirer = Expirer(self.pool, QuarantineStore(self.pool, self.clock), self.clock)
        while len(self.queue) and (messages := await self.queue.receive()):
            await self.queue.delete(await expirer.handle(messages))

    async def balances(self) -> dict[str, int]:
        return dict(map(tuple, await self.pool.fetch("select member_id, balance from account order by 1")))

    async def is_proven(self) -> bool:
        book = CardBook([])
        only_expiries = await self.pool.fetchval("select count(*) from transfer where kind = 'expire'")
        report = await verify(self.pool, lambda transfer: recompute(transfer, book) if transfer.points < 0 else None)
        return report.clean and only_expiries >= 0


@pytest.fixture
def office(pool: Pool) -> Office:
    return Office(pool)


async def test_who_stayed_away_loses_what_lapsed_and_who_came_back_keeps_it(office: Office) -> None:
    await office.ledger.post([earned(name) for name in NAMES])
    await office.ledger.post([earned("jane", until_day=date(2026, 8, 31))])  # before the sweep
    run = await office.sweep()
    assert (run.found, run.enqueued, run.expired, run.finished_at) == (3, 3, 0, None)
    await office.ledger.post(
        [earned("eve", points=1, until_day=date(2026, 8, 31))]
    )  # between the sweep and the expirer
    await office.expire()
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points, run.left) == (2, 1, 200, 0)
    assert run.finished_at == office.clock.now()
    assert await office.balances() == {"adam": 0, "bob": 0, "eve": 101, "jane": 200}
    assert await office.is_proven()


async def test_running_twice_changes_nothing(office: Office) -> None:
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep()
    await office.expire()
    (first,) = await office.runs.all()
    again = await office.sweep(again=True)
    assert again == first
    assert len(office.queue) == 0
    assert await office.pool.fetchval("select count(*) from transfer where kind = 'expire'") == len(NAMES)


async def test_an_envelope_that_comes_twice_is_expired_once(office: Office) -> None:
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep()
    messages = await office.queue.receive()
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    await asyncio.gather(expirer.handle(messages), expirer.handle(messages))
    assert await expirer.handle(messages) == messages
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points) == (4, 0, 400)
    assert await office.is_proven()


async def test_a_second_delivery_waits_for_the_first(office: Office) -> None:
    """Both have begun while the first waits for an account."""
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep()
    messages = await office.queue.receive()
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    async with office.pool.acquire() as connection, connection.transaction():
        await connection.execute("select from account where member_id = 'bob' for update")
        deliveries = [asyncio.create_task(expirer.handle(messages)) for _ in range(2)]
        await waiting(office.pool, *deliveries)
    await asyncio.gather(*deliveries)
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points) == (4, 0, 400)


async def test_an_account_lapses_once_with_a_months_end(office: Office) -> None:
    """Though it is in two batches of it, and has points of that month again in between."""
    await office.ledger.post([earned("bob")])
    await office.sweep()
    (message,) = await office.queue.receive()
    again = message._replace(body=message.body.replace('"number":1', '"number":2'))
    await office.pool.execute(
        "insert into expiry_batch (country, month, number, accounts) values ('SG', $1, 2, 1)", str(JULY.month)
    )
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    await expirer.handle([message])
    await office.ledger.post([earned("bob", key="txn:rides:late")])
    await expirer.handle([again])
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points) == (1, 1, 100)
    assert await office.balances() == {"bob": 100}


async def test_what_is_held_lapses_with_a_later_months_end(office: Office) -> None:
    await office.ledger.post([earned("bob")])
    await office.pool.execute("update account set held = 30")
    await office.sweep()
    await office.expire()
    assert await office.balances() == {"bob": 30}
    await office.pool.execute("update account set held = 0")
    september = Office(office.pool, AUGUST + timedelta(days=31))
    due = await of_all_due(september.runs, _book(), "SG", september.clock.now())
    assert [str(task.month) for task in due] == ["2026-08"]
    await september.sweep(due[0])
    await september.expire()
    assert await office.balances() == {"bob": 0}
    keys = await office.pool.fetch("select key, points from transfer where kind = 'expire' order by seq")
    assert [tuple(row) for row in keys] == [("expiry:2026-07", -70), ("expiry:2026-08", -30)]
    assert await office.is_proven()


async def test_a_late_award_of_a_month_that_is_done_lapses_with_the_next(office: Office) -> None:
    await office.ledger.post([earned("bob")])
    await office.sweep()
    await office.expire()
    await office.ledger.post([earned("bob", key="txn:rides:late")])
    assert (await office.sweep()).found == 1
    assert await office.balances() == {"bob": 100}
    september = Office(office.pool, AUGUST + timedelta(days=31))
    await september.sweep(JULY._replace(month=Month(2026, 8)))
    await september.expire()
    assert await office.balances() == {"bob": 0}
    assert await office.is_proven()


@pytest.mark.parametrize("fails_at", [1, 2, 3])
async def test_a_sweep_that_is_cut_off_goes_on_where_it_stopped(office: Office, fails_at: int) -> None:
    """Three calls: ten envelopes, ten, and one."""
    members = [f"m{number:05}" for number in range(10_001)]
    await office.pool.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select unnest($1::text[]), 'GRP', 'SG', 10, '2026-07-31'",
        members,
    )
    broken = Line(fails_at)
    with pytest.raises(Unavailable):
        await office.sweep(queue=broken)
    (cut,) = await office.runs.all()
    assert (cut.swept_at, cut.enqueued) == (None, 5000 * (fails_at - 1))
    run = await office.sweep()
    assert (run.found, run.enqueued) == (10_001, 10_001)
    messages = [message for queue in (broken, office.queue) for message in await _all(queue)]
    assert len({message.body for message in messages}) == len(messages) == 21


async def test_a_second_run_is_refused_while_one_is_under_way(office: Office) -> None:
    await office.ledger.post([earned(name) for name in NAMES])

    class Slow(Line):
        async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
            with pytest.raises(Refused, match="SG 2026-07 is under way: another process"):
                await office.sweep()
            await super().send(bodies, delay_s=delay_s)

    await office.sweep(queue=Slow())
    with pytest.raises(Refused, match="all 4 are on the queue and 4 are not expired yet"):
        await office.sweep()


@pytest.mark.parametrize("asked", [True, False])
async def test_what_got_lost_on_the_queue_is_sent_again(office: Office, *, asked: bool) -> None:
    """When it is asked for; and by itself when nothing has moved for an hour."""
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep(queue=Line())  # a queue that is lost
    if not asked:
        office.clock.set(AUGUST + timedelta(hours=1))
    await office.sweep(again=asked)
    await office.expire()
    assert set((await office.balances()).values()) == {0}


async def test_an_earlier_months_end_that_is_under_way_keeps_its_accounts(office: Office) -> None:
    await office.ledger.post([earned("bob", until_day=date(2026, 6, 30)), earned("eve")])
    june = JULY._replace(month=Month(2026, 6))
    assert (await office.sweep(june)).found == 1
    assert (await office.sweep()).found == 1
    await office.expire()
    assert set((await office.balances()).values()) == {0}
    assert [(run.month, run.expired) for run in await office.runs.all()] == [("2026-06", 1), ("2026-07", 1)]


async def test_what_is_no_envelope_of_a_run_is_set_aside(office: Office) -> None:
    await office.ledger.post([earned("bob")])
    await office.sweep()
    (message,) = await office.queue.receive()
    forged = message._replace(body=message.body.replace('"number":1', '"number":2'))
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    bad = [forged, Received("x", "x", "no envelope", 1)]
    assert await expirer.handle([*bad, message]) == [*bad, message]
    rows = await office.pool.fetch("select stage, origin, reason from quarantine")
    expected = [Reason.INVALID, Reason.UNDECODABLE]
    assert [tuple(row) for row in rows] == [("envelope", EXPIRY_QUEUE, reason) for reason in expected]
    assert await office.balances() == {"bob": 0}


async def test_what_is_due(office: Office) -> None:
    await office.ledger.post([earned("bob", until_day=date(2026, 5, 31)), earned("eve")])
    due = await of_all_due(office.runs, _book(), None, office.clock.now())
    assert [(str(task.month), task.country) for task in due if task.country in {"SG", "ID"}] == [
        ("2026-05", "SG"),
        ("2026-06", "ID"),  # it is not August there yet
        ("2026-07", "SG"),
    ]
    for task in due:
        await office.sweep(task)
    await office.expire()
    assert await of_all_due(office.runs, _book(), None, office.clock.now()) == []


@pytest.mark.parametrize(
    ("month", "country", "words"),
    [
        (Month(2026, 8), "SG", "--month: 2026-08 is not over; it will be at 2026-08-31T16:00:00"),
        (Month(2026, 7), "ID", "--month: 2026-07 is not over; it will be at 2026-07-31T17:00:00"),
        (Month(2026, 7), "XX", "--country: .*'XX'"),
        (Month(2027, 1), None, "--month: 2027-01 is not over"),
    ],
)
def test_what_cannot_be_run(month: Month, country: str | None, words: str) -> None:
    with pytest.raises(Refused, match=words):
        of_month(_book(), month, country, AUGUST)


def test_a_country_whose_first_card_is_still_to_come_is_left_out() -> None:
    cards = [PublishedCard(card, 1) for card in example_cards() if card.scope in {"SG", "MY"}]
    later = [
        PublishedCard(replace(each.card, effective_from=datetime(2027, 1, 1, tzinfo=UTC)), 1)
        if each.card.scope == "MY"
        else each
        for each in cards
    ]
    assert [task.country for task in of_month(CardBook(later), Month(2026, 7), None, AUGUST)] == ["SG"]
    with pytest.raises(Refused, match="before the first rate card of MY"):
        of_month(CardBook(later), Month(2026, 7), "MY", AUGUST)


async def test_a_preview_changes_nothing(office: Office) -> None:
    await office.ledger.post(
        [
            earned("bob", until_day=date(2026, 6, 30)),
            earned("eve"),
            earned("jane"),
            earned("jane", program="OVO", key="k"),
        ]
    )
    with_earlier = await preview(office.pool, "SG", Month(2026, 7), with_earlier=True)
    assert with_earlier == [Expected("SG", "GRP", 3, 300), Expected("SG", "OVO", 1, 100)]
    alone = await preview(office.pool, "SG", Month(2026, 7), with_earlier=False)
    assert alone == [Expected("SG", "GRP", 2, 200), Expected("SG", "OVO", 1, 100)]
    assert await office.runs.all() == []


async def test_finding_uses_the_index(pool: Pool) -> None:
    await pool.execute(
        "insert into account (member_id, program, country, balance, expires_on)"
        " select 'm' || n, 'GRP', 'SG', 10, date '2026-01-31' + (n % 300) from generate_series(1, 20000) n"
    )
    after = Lapsing(date(2026, 1, 31), "m1", "GRP")
    query, *values = FIND(country="SG", **after._asdict(), last_day=date(2026, 2, 28), most=5000)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(FIND_PLANS)
        plan = await connection.fetch(f"explain {query}", *values)
    text = "\n".join(row[0] for row in plan)
    assert "account_country_expires_on_member_id_program_idx" in text
    assert "Sort" not in text
    assert "Seq Scan" not in text


async def test_adam_from_the_stream_to_the_expiry(house: House) -> None:
    """Two transactions give 31 July, then 31 August; once August is over, he loses what he has."""
    async with house.running():
        await house.produce([completed(1, member_id="adam", occurred_at="2026-01-10T09:00:00+08:00")])
        await until(lambda: _expires_on(house, date(2026, 7, 31)))
        await house.produce([completed(2, member_id="adam", occurred_at="2026-02-28T09:00:00+08:00")])
        await until(lambda: _expires_on(house, date(2026, 8, 31)))


async def _expires_on(house: House, day: date) -> bool:
    return bool(await house.pool.fetchval("select expires_on = $1 from account where member_id = 'adam'", day))


async def _all(queue: MemoryQueue) -> list[Received]:
    found: list[Received] = []
    while len(queue) > len(found) and (messages := await queue.receive()):
        found += messages
    return found


def _book() -> CardBook:
    return CardBook([PublishedCard(card, 1) for card in example_cards()])


async def test_by_lots_each_award_lapses_on_a_day_of_its_own(office: Office) -> None:
    """Bob earned 100 points good until July, 50 until August, and spent 30 of the oldest; ten more he was given."""
    until_august: dict[str, Any] = {"until_day": date(2026, 8, 31), "lifetime": True}
    await office.ledger.post([earned("bob", lifetime=True), earned("bob", points=50, **until_august)])
    await office.ledger.post([earned("bob", points=10, key="api:acme:1", activity=False, **until_august)])
    spent = Spend("api:acme:2", "bob", "GRP", "SG", "0" * 16, 30, "a coffee", "acme", "partner:acme")
    await PostgresMoves(office.pool, office.clock).move([spent])
    expected = [each.points for each in await preview(office.pool, "SG", Month(2026, 7), with_earlier=False)]
    assert expected == [70]
    assert (await office.sweep()).found == 1
    await office.expire()
    (run,) = await office.runs.all()
    assert (run.expired, run.points) == (1, 70)
    lots = await LedgerReader(office.pool).lots("bob", "GRP", 0, 10)
    assert [(lot.remaining, lot.expires_on) for lot in lots] == [(50, date(2026, 8, 31)), (10, date(2026, 8, 31))]
    (account,) = await LedgerReader(office.pool).accounts("bob")
    assert (account.balance, account.expires_on, account.lifetime) == (60, date(2026, 8, 31), True)
    draws = await office.pool.fetch("select lot_seq, seq, points from draw")
    assert list(map(tuple, draws)) == [(1, 5, 70)]
    assert await office.is_proven()


async def test_what_was_earned_before_the_card_changed_keeps_its_day(office: Office) -> None:
    await office.ledger.post([earned("bob"), earned("bob", points=20, until_day=date(2026, 8, 31))])
    await office.ledger.post([earned("bob", points=5, until_day=date(2026, 12, 31), key="txn:x:1", lifetime=True)])
    (account,) = await LedgerReader(office.pool).accounts("bob")
    assert (account.lifetime, account.expires_on) == (True, date(2026, 7, 31))
    late = earned("bob", points=7, until_day=date(2026, 8, 31), key="txn:x:2")  # under the card of before
    await office.ledger.post([late])
    await office.sweep()
    await office.expire()
    assert await office.balances() == {"bob": 32}
    (account,) = await LedgerReader(office.pool).accounts("bob")
    assert (account.lifetime, account.expires_on) == (True, date(2026, 8, 31))

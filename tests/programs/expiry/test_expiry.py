"""The month's end on the real stack: members who stayed away lose their points, once; those who came back keep them."""

import asyncio
from datetime import date, timedelta
from typing import Any

import pytest

from abacus.core.errors import Reason
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.movement import Spend
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import EXPIRY_QUEUE
from abacus.platform.sqs.port import Received
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.expirer import Expirer
from abacus.programs.expiry.lapsing_sql import preview
from abacus.programs.expiry.sweep import of_all_due
from tests.programs.expiry.office import AUGUST, JULY, NAMES, Office, book, earned
from tests.support.house import House, completed, until
from tests.support.slices import home_of, neighbour
from tests.support.waiting import waiting


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
    """Both deliveries have begun while the first waits for an account."""
    await office.ledger.post([earned(name) for name in NAMES])
    await office.sweep()
    messages = await office.queue.receive()
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    home = await home_of(office.pool, "bob")
    async with office.pool.acquire(schema=home) as connection, connection.transaction():
        await connection.execute("select from account where member_id = 'bob' for update")
        deliveries = [asyncio.create_task(expirer.handle(messages)) for _ in range(2)]
        await waiting(office.pool, *deliveries)
    await asyncio.gather(*deliveries)
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points) == (4, 0, 400)
    assert await office.pool.fetchval("select count(*) from quarantine") == 0  # a batch that is done is no bad message


async def test_an_account_lapses_once_with_a_months_end(office: Office) -> None:
    """The account is in two batches of the month's end, and earns points of that month again in between."""
    await office.ledger.post([earned("bob")])
    await office.sweep()
    (message,) = await office.queue.receive()
    again = message._replace(body=message.body.replace('"number":1', '"number":2'))
    await office.pool.execute(
        "insert into expiry_batch (country, month, number, accounts, body) values ('SG', $1, 2, 1, $2)",
        str(JULY.month),
        again.body,
    )
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    await expirer.handle([message])
    await office.ledger.post([earned("bob", key="txn:rides:late")])
    await expirer.handle([again])
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped, run.points) == (1, 1, 100)
    assert await office.balances() == {"bob": 100}


async def test_a_message_only_names_a_batch(office: Office) -> None:
    """Whoever may send a message chooses neither whose points lapse nor whose do not."""
    ann, eve = neighbour("ann"), neighbour("eve")
    await office.ledger.post([earned("bob"), earned(ann, key="txn:rides:ann")])
    await office.sweep()
    (message,) = await office.queue.receive()
    forged = message._replace(body=message.body.replace('"bob"', f'"{eve}"').replace(f'["{ann}","GRP"],', ""))
    assert forged.body != message.body
    expirer = Expirer(office.pool, QuarantineStore(office.pool, office.clock), office.clock)
    await expirer.handle([forged])
    assert await office.balances() == {ann: 0, "bob": 0}
    (run,) = await office.runs.all()
    assert (run.expired, run.skipped) == (2, 0)


async def test_what_is_held_lapses_with_a_later_months_end(office: Office) -> None:
    await office.ledger.post([earned("bob")])
    home = await home_of(office.pool, "bob")
    async with office.pool.acquire(schema=home) as connection:
        await connection.execute("update account set held = 30")
    await office.sweep()
    await office.expire()
    assert await office.balances() == {"bob": 30}
    async with office.pool.acquire(schema=home) as connection:
        await connection.execute("update account set held = 0")
    september = Office(office.pool, AUGUST + timedelta(days=31))
    due = await of_all_due(september.runs, book(), "SG", september.clock.now())
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


@pytest.mark.long
async def test_adam_from_the_stream_to_the_expiry(house: House) -> None:
    """Two transactions give 31 July, then 31 August; once August is over, he loses what he has."""
    async with house.running():
        await house.produce([completed(1, member_id="adam", occurred_at="2026-01-10T09:00:00+08:00")])
        await until(lambda: _expires_on(house, date(2026, 7, 31)))
        await house.produce([completed(2, member_id="adam", occurred_at="2026-02-28T09:00:00+08:00")])
        await until(lambda: _expires_on(house, date(2026, 8, 31)))


async def _expires_on(house: House, day: date) -> bool:
    return bool(await house.pool.fetchval("select expires_on = $1 from account where member_id = 'adam'", day))


async def test_by_lots_each_award_lapses_on_a_day_of_its_own(office: Office) -> None:
    """Bob earned 100 points good until July, 50 until August, and spent 30 of the oldest; ten more he was given."""
    until_august: dict[str, Any] = {"until_day": date(2026, 8, 31), "lifetime": True}
    await office.ledger.post([earned("bob", lifetime=True), earned("bob", points=50, **until_august)])
    await office.pool.execute("insert into allowance (partner_id) values ($1)", "acme")
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

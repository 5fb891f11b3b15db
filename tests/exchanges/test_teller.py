"""Partners are told of each turn of the exchanges that they asked for, and members of what is of use to them, once."""

import asyncio
from uuid import uuid4

import orjson
import pytest

from abacus.engage.notify.notices import Notices
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.inbound import buried
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.exchange_rows import enter, tell
from abacus.exchanges.teller import Teller
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool
from tests.support.exchanged import NOW, SKYMILES, exchange
from tests.support.exchanges import enter_partner
from tests.support.fixed_clock import FixedClock


def _turn(of: Exchange, n: int, state: State, reason: str | None = None) -> Turn:
    return Turn(of.exchange_id, n, state, NOW, "clock", reason, None)


async def _step(pool: Pool) -> int:
    clock = FixedClock(NOW)

    async def version_of(_: str, __: int) -> Programme:
        return SKYMILES

    async with pool.acquire() as connection:
        return await Teller(pool, clock, version_of, Notices(pool, clock)).step(connection)


async def _tell_all(pool: Pool, turns: int) -> None:
    """Turns are told once no open transaction can precede them: those of other tests on this server are waited for."""
    told = 0
    async with asyncio.timeout(20):
        while told < turns:
            told += await _step(pool)
            await asyncio.sleep(0.01)
    assert (told, await _step(pool)) == (turns, 0)


async def _told(pool: Pool) -> list[tuple[int, str, str]]:
    rows = await pool.fetch("select body from webhook_delivery order by created_at, message_id")
    told = [orjson.loads(row["body"]) for row in rows]
    assert {each["type"] for each in told} <= {"exchange.changed"}
    return sorted((each["data"]["turn"], each["data"]["state"], each["data"]["words"]) for each in told)


async def _said(pool: Pool) -> list[tuple[str, str | None]]:
    rows = await pool.fetch("select part from notice where member_id = 'bob' order by seq")
    return [(each["step"], each["reason"]) for each in (orjson.loads(row["part"]) for row in rows)]


@pytest.fixture
async def asked(pool: Pool) -> Exchange:
    """Of the partner shop, which hears of what happens now."""
    clock = FixedClock(NOW)
    await enter_partner(pool, clock, "shop")
    store = WebhookStore(pool, clock, Secrets.of(None))
    await store.set("shop", "https://shop.example/hook", new_secret())
    row = exchange(State.SENT, exchange_id=uuid4(), source="partner:shop")
    await enter(pool, [row])
    return row


async def test_each_turn_is_told_once_in_words(pool: Pool, asked: Exchange) -> None:
    turns = [
        _turn(asked, 1, State.HELD),
        _turn(asked, 2, State.SENT),
        _turn(asked, 3, State.REJECTED, "account-closed"),
        _turn(asked, 4, State.RELEASED, "account-closed"),
    ]
    async with pool.acquire() as connection:
        await tell(connection, turns)
    await _tell_all(pool, 4)
    told = await _told(pool)
    assert [each[:2] for each in told] == [(each.n, each.state) for each in turns]
    assert told[3][2] == "the points are free again: the account is closed"
    assert await _said(pool) == [("begun", None), ("off", "account-closed")]
    await pool.execute("update exchange_cursor set xid = '0'")  # as after a restored backup
    await _tell_all(pool, 4)
    assert (len(await _told(pool)), len(await _said(pool))) == (4, 2)


async def test_what_people_asked_for_is_told_to_no_partner(pool: Pool, asked: Exchange) -> None:
    by_hand = exchange(State.SENT, exchange_id=uuid4(), source="person:ann")
    await enter(pool, [by_hand])
    async with pool.acquire() as connection:
        await tell(connection, [_turn(by_hand, 1, State.HELD), _turn(asked, 1, State.HELD)])
    await _tell_all(pool, 2)
    assert [each[0] for each in await _told(pool)] == [1]
    assert len(await _said(pool)) == 2


async def test_a_tombstone_of_an_id_that_was_never_asked_for_is_told_to_its_partner_alone(pool: Pool) -> None:
    row = buried("shop", "x-1", NOW)
    await enter(pool, [row])
    async with pool.acquire() as connection:
        await tell(connection, [_turn(row, 1, State.DROPPED, "cancelled")])
    await _tell_all(pool, 1)

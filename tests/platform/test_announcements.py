"""A change of a table is heard at once by those who keep a copy of it, on one connection, which may be lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import pytest
from structlog.testing import capture_logs

from abacus.cli.examples import example_cards
from abacus.core.backoff import Backoff
from abacus.core.tokens import NewToken
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.announcements import Announced, Announcements
from abacus.platform.fresh_copy import Cadence
from abacus.platform.postgres import Pool, open_connection
from abacus.pricing import kind
from abacus.pricing.store.cards import CardReader, CardStore
from tests.support.fixed_clock import FixedClock
from tests.support.logged import limits_logged
from tests.support.proxy import proxied
from tests.support.soon import soon

pytestmark = pytest.mark.once

NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
CLOCK: Final = FixedClock(NOW)
CARDS: Final = example_cards()
RATE_CARDS: Final = kind.CARDS.table.name
ACME: Final = Partner("acme", "Acme", True, True, (), None, 60, None, NOW, "ann", None)  # noqa: FBT003  # columns
_LISTENERS: Final = """
select pid from pg_stat_activity where application_name = 'abacus announcements' and datname = current_database()
"""


class Calls:
    """Counts how often it was called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Announcements]:
    announcements = Announcements(
        lambda: open_connection(url), check_every_s=0.1, answer_within_s=0.3, backoff=Backoff(0.02, 0.1)
    )
    task = asyncio.create_task(announcements.keep_listening())
    yield announcements
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


@asynccontextmanager
async def called(url: str, on: str) -> AsyncIterator[Calls]:
    """Calls that a change brings about; the first one, at the beginning, is not among them."""
    calls = Calls()
    async with listening(url) as announcements:
        announcements.call(calls, on=on)
        await soon(lambda: calls.count == 1)
        calls.count = 0
        yield calls


async def with_partner(pool: Pool) -> tuple[PartnerStore, NewToken]:
    store, key = PartnerStore(pool, CLOCK), LIVE_KEY.new()
    await store.create(ACME, Limits(per_day=1000), key)
    return store, key


async def test_a_published_card_is_in_force_within_a_second(pool: Pool, database_url: str) -> None:
    """Nothing but the announcement has the reader read."""
    store = CardStore(pool)
    await store.publish(CARDS[0], by="ann", now=NOW)
    reader = CardReader(store.all, Cadence(refresh_every_s=3600))
    keeping = asyncio.create_task(reader.keep_fresh())
    async with listening(database_url) as announcements:
        announcements.call(reader.wake, on=RATE_CARDS)
        await soon(lambda: reader.age_s < 5)
        for card in CARDS[1:]:
            began = time.monotonic()
            await store.publish(card, by="ann", now=NOW)
            await soon(lambda scope=card.scope: scope in reader.book())  # type: ignore[misc]  # a default is no type
            assert time.monotonic() - began < 1
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_a_partner_is_disabled_limited_and_gets_a_key_within_a_second(pool: Pool, database_url: str) -> None:
    store, key = await with_partner(pool)
    directory = Directory(store, CLOCK)
    assert await directory.find(key.text)
    async with called(database_url, Announced.PARTNERS) as calls:
        for number, change in enumerate(
            (
                store.limit("acme", Limits(per_day=5), also=limits_logged("acme")),
                store.sign("acme", "secret"),
                store.disable("acme"),
                store.rotate("acme", LIVE_KEY.new(), overlap=NOW - NOW),
            ),
            1,
        ):
            await change
            await soon(lambda number=number: calls.count >= number)  # type: ignore[misc]  # a default is no type


async def test_the_directory_reads_an_announced_change(pool: Pool, database_url: str) -> None:
    store, key = await with_partner(pool)
    directory = Directory(store, CLOCK)
    keeping = asyncio.create_task(directory.keep_fresh())
    async with listening(database_url) as announcements:
        announcements.call(directory.wake, on=Announced.PARTNERS)
        assert await directory.find(key.text)
        await asyncio.sleep(0.6)
        began = time.monotonic()
        await store.disable("acme")
        while await directory.find(key.text):  # noqa: ASYNC110  # the directory has no event for this
            await asyncio.sleep(0.005)
        assert time.monotonic() - began < 1
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_changes_that_come_all_the_time_are_not_announced(pool: Pool, database_url: str) -> None:
    """A key's last use, and the points that a partner has awarded."""
    store, key = await with_partner(pool)
    async with called(database_url, Announced.PARTNERS) as calls:
        await store.note_use({key.prefix: NOW})
        await pool.execute("update allowance set used = 7, used_that_day = 7, day = '2026-06-01'")
        await CardStore(pool).publish(CARDS[0], by="ann", now=NOW)
        await store.limit("acme", Limits(), also=limits_logged("acme"))
        await soon(lambda: calls.count >= 1)
        assert calls.count == 1, "only the limits"


async def test_a_lost_connection_is_made_again_and_missed_changes_are_read(pool: Pool, database_url: str) -> None:
    with capture_logs() as logs:
        async with proxied(database_url) as (proxy, address), called(address, RATE_CARDS) as calls:
            proxy.cut_all()
            await soon(lambda: calls.count == 1)
            await CardStore(pool).publish(CARDS[0], by="ann", now=NOW)
            await soon(lambda: calls.count == 2)
    assert [line["event"] for line in logs] == ["announcements are not heard", "announcements are heard again"]


async def test_a_server_that_goes_silent_is_noticed(database_url: str) -> None:
    async with proxied(database_url) as (proxy, address), called(address, RATE_CARDS) as calls:
        proxy.silence()
        await asyncio.sleep(0.6)
        proxy.speak()
        await soon(lambda: calls.count >= 1)


async def test_a_process_listens_once_and_only_when_somebody_waits(pool: Pool, database_url: str) -> None:
    async with listening(database_url) as announcements:
        await asyncio.sleep(0.05)
        assert await pool.fetch(_LISTENERS) == []
        calls = [Calls() for _ in range(5)]
        for each in calls:
            announcements.call(each, on=Announced.PARTNERS)
        await soon(lambda: all(each.count for each in calls))
        assert len(await pool.fetch(_LISTENERS)) == 1


@pytest.mark.parametrize("is_up", [False, True])
async def test_a_database_that_is_away_is_waited_for(database_url: str, *, is_up: bool) -> None:
    async with proxied(database_url) as (proxy, address):
        if not is_up:
            await proxy.cut()
        calls = Calls()
        async with listening(address) as announcements:
            announcements.call(calls, on=Announced.PARTNERS)
            if not is_up:
                await asyncio.sleep(0.1)
                assert calls.count == 0
                await proxy.mend()
            await soon(lambda: calls.count == 1)

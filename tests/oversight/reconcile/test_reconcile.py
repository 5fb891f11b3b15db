"""Reconciling on the real stack: a stream with every misfortune comes out, and windows that meet leave nothing out."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.clock import SystemClock
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.pricing.decide.card import parse_toml
from abacus.pricing.store.cards import CardStore
from tests.oversight.reconcile.reconciling import (
    LONG_AGO,
    MESSAGES,
    account,
    done,
    is_read,
    processed,
    published,
    send_stamped,
)
from tests.support.commands import abacus
from tests.support.house import House, completed, until


@pytest.mark.long
async def test_a_stream_with_every_misfortune_comes_out(house: House) -> None:
    async with processed(house):
        report = await account(house)
    assert report.findings == []
    assert report.comes_out
    assert report.whole
    assert report.messages == len(MESSAGES) + 1
    assert report.verdicts == {
        Verdict.AWARDED: 4,
        Verdict.DUPLICATE: 2,
        Verdict.IGNORED: 1,
        Verdict.QUARANTINED: 5,
    }
    assert report.reasons == {"unknown-vertical": 1, "unknown-country": 1, "undecodable": 2, "key-conflict": 1}
    assert {name: line.total for name, line in report.sources.items()} == {"rides": 9, "meals": 1, "(unreadable)": 2}
    points = int(await house.pool.fetchval("select sum(points) from transfer where key not like 'api:%'"))
    assert sum(line.points for line in report.sources.values()) == points
    assert {name: (line.verdicts, line.points) for name, line in report.partners.items()} == {
        "acme": ({Verdict.AWARDED: 1}, 100)
    }
    assert [(each.kind, each.origin, each.transfers) for each in report.posted] == [
        ("earn", "messages of the window", 4),
        ("earn", "partners", 1),
    ]
    assert report.published._asdict() == {
        "transfers": 5,
        "there": 5,
        "again": 0,
        "not_yet": 0,
        "missing": 0,
        "unknown": 0,
        "unreadable": 0,
    }
    assert (report.queues, report.on_the_way) == ((0, 0, 0), 0)


async def test_refunds_are_accounted_for_as_what_they_refund_is(house: House) -> None:
    refund = completed(1, type="transaction.refunded", refund_id="R-1", amount="5.00")
    async with house.running("calculator", "retrier", "awarder", "relay"):
        await house.produce([completed(1)])
        await until(lambda: done(house, transfers=1, held=0))
        await house.produce([refund, refund, refund | {"amount": "6.00"}])
        await until(lambda: done(house, transfers=2, held=1))
        await until(lambda: published(house))
        report = await account(house)
    assert report.findings == []
    assert report.comes_out
    assert report.verdicts == {Verdict.AWARDED: 2, Verdict.DUPLICATE: 1, Verdict.QUARANTINED: 1}
    assert [(each.kind, each.transfers, each.points) for each in report.posted] == [
        ("earn", 1, 20),
        ("reverse", 1, -10),
    ]


async def test_a_transfer_that_is_not_published_yet_is_on_its_way(house: House) -> None:
    async with house.running("calculator", "awarder"):
        await house.produce([completed(1)])
        await until(lambda: done(house, transfers=1, held=0))
    report = await account(house)
    assert (report.comes_out, report.on_the_way, report.published.not_yet) == (True, 1, 1)


@pytest.mark.long
async def test_windows_that_meet_share_no_message_and_leave_none_out(house: House) -> None:
    """The message is sent before midnight and posted after it; then it is sent again."""
    now = datetime.now(UTC)
    midnight = now - timedelta(seconds=20)
    await send_stamped(house, [(midnight - timedelta(seconds=1), completed(1)), (now, completed(2))])
    async with house.running("calculator", "awarder", "relay"):
        await until(lambda: done(house, transfers=2, held=0))
        await send_stamped(house, [(now + timedelta(hours=1), completed(1))])
        await until(lambda: is_read(house, 3))
        await until(lambda: published(house))
    evening = await account(house, LONG_AGO, midnight)
    assert (evening.verdicts, evening.posted) == ({Verdict.AWARDED: 1}, [])
    morning = await account(house, midnight, later=timedelta(hours=2))
    assert morning.verdicts == {Verdict.AWARDED: 1, Verdict.DUPLICATE: 1}
    assert [(each.origin, each.transfers) for each in morning.posted] == [
        ("messages of the window", 1),
        ("messages outside the window", 1),
    ]
    assert (evening.findings, morning.findings) == ([], [])


@pytest.mark.long
async def test_what_was_replayed_is_the_source_of_its_transfer(house: House) -> None:
    """The message was sent long before; its transfer is of today."""
    sent_at = datetime.now(UTC) - timedelta(days=5)  # a broker of the usual settings keeps it for a week
    await send_stamped(house, [(sent_at, completed(1, vertical="yachts"))])
    async with house.running("calculator"):
        await until(lambda: done(house, transfers=0, held=1))
        shown = await abacus("rates", "show", "SG", "--toml", env=house.environment())
        card = parse_toml(shown.out.replace('food = "2"', 'food = "2"\nyachts = "10"'))
        await CardStore(house.pool).publish(card, by="tests", now=SystemClock().now())
    async with house.running("retrier", "awarder", "relay"):
        replayed = await abacus("quarantine", "replay", "--all", "--json", env=house.environment())
        assert len(replayed.json["replayed"]) == 1
        await until(lambda: done(house, transfers=1, held=1))
        await until(lambda: published(house))
    today = await account(house, datetime.now(UTC) - timedelta(days=1))
    assert [(each.origin, each.transfers) for each in today.posted] == [("messages outside the window", 1)]
    assert (today.messages, today.findings) == (0, [])
    assert (await account(house)).verdicts == {Verdict.AWARDED: 1}

"""Caps, quiet hours and holdouts in the store: exact whoever gathers, counted once, and told."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from abacus.engage.notify.contact_rows import untold_of
from abacus.engage.notify.decide.contact import Cause
from abacus.engage.notify.decide.contact_policy import is_held_out
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.news import Campaigned, JourneyTerms, News
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications
from abacus.engage.notify.preferences import PreferenceStore
from abacus.platform.postgres import Pool
from tests.engage.notify.promoting import policies, promoted
from tests.engage.notify.telling import AT_ONCE, Notepad, earned, gather, sending, settled
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.slices import SLICES

NOON: Final = datetime(2026, 5, 4, 4, tzinfo=UTC)  # in Singapore
_EVENING: Final = datetime(2026, 5, 4, 14, tzinfo=UTC)
_MORNING: Final = datetime(2026, 5, 5, 0, tzinfo=UTC)
_DAY: Final = timedelta(days=1)
_BOTH: Final = (ChannelName.LOG, ChannelName.SNS)
_SNS: Final = (ChannelName.SNS,)
THREE: Final = policies(caps={"sns": {"marketing": "3 a day"}}, patience_days=1)


async def titles(pool: Pool, channel: str = "sns") -> list[str]:
    """What was promoted to whom, over a channel."""
    rows = await pool.fetch(
        "select member_id, p ->> 'key' from notification, json_array_elements(parts) p"
        " where channel = $1 and p ->> 'kind' = 'campaign' order by created_at, 1, 2",
        channel,
    )
    return [f"{member} {key.split(':')[4]}" for member, key in rows]


async def test_all_campaigns_share_a_cap_from_one_gathering_to_the_next(pool: Pool) -> None:
    clock = FixedClock(NOON)
    notices = Notices(pool, clock)
    for number in range(5):
        await notices.enter([promoted("bob", number, NOON, priority=number)], gathered_for=AT_ONCE)
        await gather(notices, _BOTH, THREE)
    assert await titles(pool) == ["bob 0", "bob 1", "bob 2"]
    assert len(await titles(pool, "log")) == 5
    assert await pool.fetch("select event_id from notice where told_at is null and due_at <= $1", NOON) == []
    clock.set(NOON + _DAY)
    await notices.enter([promoted("bob", 9, clock.now(), priority=9)], gathered_for=AT_ONCE)
    await gather(notices, _BOTH, THREE)
    assert sorted((await titles(pool))[3:]) == ["bob 3", "bob 4", "bob 9"]
    assert len(await titles(pool, "log")) == 6  # what was told over one channel is not told there again
    assert await pool.fetchval("select sum(messages) from message_count") == 6


def of_second_version(news: News) -> str | None:
    is_of = isinstance(news, Campaigned) and news.journey is not None and news.journey.version == 2
    return "the journey was ended" if is_of else None


async def test_what_is_stopped_is_never_told_also_where_it_waits(pool: Pool) -> None:
    """Here for the morning, where it had waited for that, and where there is no policy."""
    clock = FixedClock(_EVENING)
    notices, quiet = Notices(pool, clock), policies(quiet_hours="21:00-08:00")
    told = [promoted("bob", number, _EVENING, journey=JourneyTerms(version=number)) for number in (1, 2)]
    await notices.enter(told, gathered_for=AT_ONCE)
    assert len((await gather(notices, _SNS, quiet)).put_off) == 2
    clock.set(_MORNING)
    await notices.enter([promoted("ann", 2, _MORNING, journey=JourneyTerms(version=2))], gathered_for=AT_ONCE)
    found = await gather(notices, _SNS, stopped=of_second_version)
    assert sorted((each.notice.member_id, each.cause, each.why) for each in found.untold) == [
        (member, Cause.STOPPED, "the journey was ended") for member in ("ann", "bob")
    ]
    assert await titles(pool) == ["bob 1"]


async def test_what_is_stopped_is_left_out_of_messages_that_wait(pool: Pool) -> None:
    clock = FixedClock(NOON)
    notices = Notices(pool, clock)
    told = [promoted("bob", number, NOON, journey=JourneyTerms(version=number)) for number in (1, 2)]
    await notices.enter([*told, promoted("ann", 2, NOON, journey=JourneyTerms(version=2))], gathered_for=AT_ONCE)
    await gather(notices, _SNS)
    notepad = Notepad(ChannelName.SNS)
    async with sending(pool, notepad, clock=clock, stopped=of_second_version):
        await settled(pool, "sent_at", 1)
        await settled(pool, "parked_at", 1)
    assert [(each.member_id, each.words.title) for each in notepad.told] == [("bob", "Thing 1")]
    assert await pool.fetchval("select last_error from notification where member_id = 'ann'") == "the journey was ended"


async def test_what_waits_too_long_is_never_told_and_says_why(pool: Pool) -> None:
    clock = FixedClock(NOON)
    notices = Notices(pool, clock)
    await notices.enter([promoted("bob", number, NOON) for number in range(8)], gathered_for=AT_ONCE)
    first = await gather(notices, _SNS, THREE)
    assert Counter(each.cause for each in first.put_off) == {Cause.CAP: 5}
    clock.set(NOON + timedelta(hours=12))  # the next day in Singapore
    second = await gather(notices, _SNS, THREE)
    assert (second.notices, len(second.untold)) == (5, 2)
    assert [(each.event_id[-5], each.owner, each.cause, each.why) for each, _ in await untold_of(pool, "bob", 9)] == [
        ("6", "autumn", "cap", "over the cap 3 a day of SG@3"),
        ("7", "autumn", "cap", "over the cap 3 a day of SG@3"),
    ]
    assert (await gather(notices, _SNS, THREE)).notices == 0


async def test_no_cap_is_passed_however_many_gather_at_once(pool: Pool) -> None:
    clock = FixedClock(NOON)
    members = [f"m{number}" for number in range(40)]
    entering = [promoted(member, number, NOON) for member in members for number in range(10)]

    async def work(part: int) -> None:
        notices = Notices(pool, clock)
        for start in range(part, len(entering), 80):
            await notices.enter(entering[start : start + 20 : 4], gathered_for=AT_ONCE)
            await gather(notices, _BOTH, THREE)

    await asyncio.gather(*(work(part) for part in range(4)))
    await Notices(pool, clock).enter(entering, gathered_for=AT_ONCE)
    while (await gather(Notices(pool, clock), _BOTH, THREE)).notices:
        pass
    told = Counter(each.partition(" ")[0] for each in await titles(pool))
    assert told == dict.fromkeys(members, 3)
    assert len(await titles(pool, "log")) == len(entering)


async def test_quiet_hours_end_by_the_members_clock(pool: Pool) -> None:
    clock, quiet = FixedClock(_EVENING), policies(quiet_hours="21:00-08:00")
    await PreferenceStore(pool, clock).set("eve", locale=None, channels=None, zone="Europe/London", by="acme")
    notices = Notices(pool, clock)
    await notices.enter(
        [earned("bob", 1), earned("bob", 2), promoted("bob", 1, _EVENING), earned("eve", 1)], gathered_for=AT_ONCE
    )
    assert (await gather(notices, _SNS, quiet))[:2] == (1, 1)
    assert await pool.fetchval("select member_id from notification") == "eve"
    waiting = await pool.fetch("select distinct due_at, waits_for from notice where told_at is null")
    assert [tuple(row) for row in waiting] == [(_MORNING, "quiet_hours")]
    clock.set(_MORNING)
    assert (await gather(notices, _SNS, quiet))[:2] == (3, 1)  # one message of all


async def test_a_message_that_was_held_up_into_quiet_hours_waits_for_their_end(pool: Pool) -> None:
    clock, quiet = FixedClock(NOON), policies(quiet_hours="21:00-08:00")
    notices = Notices(pool, clock)
    await notices.enter([earned("bob", 1)], gathered_for=AT_ONCE)
    await gather(notices, _SNS, quiet)
    clock.set(_EVENING)
    notepad = Notepad(ChannelName.SNS)

    async def put_back() -> bool:
        return bool(await pool.fetchval("select due_at = $1 and attempts = 0 from notification", _MORNING))

    async with sending(pool, notepad, clock=clock):
        await until(put_back)
        assert notepad.told == []
        clock.set(_MORNING)
        await settled(pool, "sent_at", 1)
    assert notepad.members == ["bob"]


async def test_nothing_is_promoted_to_the_holdout(pool: Pool) -> None:
    members = [f"m{number}" for number in range(200)]
    held = {each for each in members if is_held_out("SG", each, 20)}
    notices = Notices(pool, FixedClock(NOON))
    await notices.enter([promoted(each, 1, NOON) for each in members], gathered_for=AT_ONCE)
    found = await gather(notices, _SNS, policies(holdout=20))
    assert (found.notices, found.notifications) == (200, 200 - len(held))
    assert {each.notice.member_id for each in found.untold} == held
    ((why, _),) = await untold_of(pool, min(held), 9)
    assert (why.cause, why.why) == ("holdout", "in the holdout of 20 % of SG@3")


@pytest.mark.parametrize(("kept", "rows"), [(timedelta(days=40), 3), (timedelta(days=2), 0)])
async def test_what_was_counted_and_not_told_is_removed_in_time(pool: Pool, kept: timedelta, rows: int) -> None:
    notices = Notices(pool, FixedClock(NOON))
    at_once = policies(caps={"sns": {"marketing": "1 a day"}})
    await notices.enter([promoted("bob", number, NOON) for number in range(3)], gathered_for=AT_ONCE)
    await gather(notices, _SNS, at_once)
    for number in range(SLICES):
        await Notifications(pool).prune(number, NOON + 12 * _DAY - kept)
    counts = "select (select count(*) from message_count) + (select count(*) from untold_message)"
    assert await pool.fetchval(counts) == rows

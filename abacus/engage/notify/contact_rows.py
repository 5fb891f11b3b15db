"""What caps have counted, and what members were never told, in the slice of each member."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.notify.decide.contact import Told, Untold
from abacus.engage.notify.decide.contact_policy import DAYS_OF_A_WEEK, Capped, MessageKind
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.news import Campaigned
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, arrays, columns, unnested

# By calendars of zones up to half a day ahead of ours and behind it.
KEPT_DAYS: Final = timedelta(days=DAYS_OF_A_WEEK + 1)


class CountedMessages(NamedTuple):
    """A row of `message_count`: the messages of a capped kind on a day of the member's calendar."""

    member_id: str
    channel: str
    kind: str
    day: date
    messages: int


class UntoldMessage(NamedTuple):
    """A row of `untold_message`: news that the member is never told over a channel. `owner` is the campaign that had it
    to say.
    """

    member_id: str
    event_id: str
    channel: str
    kind: str
    owner: str | None
    cause: str
    why: str
    happened_at: datetime


class UntoldSum(NamedTuple):
    """How many messages of a campaign were never told over a channel, by the cause."""

    channel: str
    cause: str
    messages: int


_BEFORE: Final = Statement(f"""
select {columns(CountedMessages)} from message_count
where member_id = any(:members::text[]) and day >= :since
""")
_COUNT: Final = Statement(f"""
insert into message_count as c ({columns(CountedMessages)})
select u.* from {unnested(CountedMessages)} order by u.member_id, u.channel, u.kind, u.day
on conflict (member_id, channel, kind, day) do update set messages = c.messages + excluded.messages
""")
_KEEP: Final = Statement(f"""
insert into untold_message ({columns(UntoldMessage)}, untold_at)
select u.*, :now from {unnested(UntoldMessage)} order by u.member_id, u.event_id, u.channel
on conflict do nothing
""")
_OF_MEMBER: Final = Statement(f"""
select {columns(UntoldMessage)}, untold_at from untold_message
where member_id = :member_id order by untold_at desc, event_id, channel limit :limit
""")
_OF_OWNER: Final = Statement("""
select channel, cause, count(*) from untold_message where owner = :owner group by channel, cause
""")


async def told_before(connection: Connection, members: Collection[str], now: datetime) -> Mapping[str, Told]:
    """What caps have counted of each of the members, in the slice of the connection."""
    found: defaultdict[str, dict[tuple[Capped, date], int]] = defaultdict(dict)
    since = (now - KEPT_DAYS).date()
    for row in await connection.fetch(*_BEFORE(members=sorted(members), since=since)):
        each = CountedMessages(*row)
        found[each.member_id][Capped(ChannelName(each.channel), MessageKind(each.kind)), each.day] = each.messages
    return found


def counted_messages(member_id: str, counted: Told) -> list[CountedMessages]:
    return [
        CountedMessages(member_id, capped.channel, capped.kind, day, messages)
        for (capped, day), messages in counted.items()
    ]


async def keep(
    connection: Connection, counted: Sequence[CountedMessages], untold: Iterable[Untold], now: datetime
) -> None:
    """In the transaction of the connection."""
    if counted:
        await connection.execute(*_COUNT(**arrays(CountedMessages, counted)))
    if rows := [_row(each) for each in untold]:
        await connection.execute(*_KEEP(**arrays(UntoldMessage, rows), now=now))


async def untold_of(pool: Pool, member_id: str, limit: int) -> Sequence[tuple[UntoldMessage, datetime]]:
    """What the member was never told, and since when that is certain, the latest first. Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_OF_MEMBER(member_id=member_id, limit=limit))
    return [(UntoldMessage(*row[:-1]), row[-1]) for row in rows]


async def untold_by(connection: Connection, owner: str) -> Sequence[UntoldSum]:
    """What a campaign had to say and members were never told, as long as it is kept."""
    rows = await slices.sums(connection, _OF_OWNER(owner=owner), facts=2)
    return sorted(UntoldSum(*row) for row in rows)


def _row(untold: Untold) -> UntoldMessage:
    notice, channel, kind, cause, why = untold
    owner = notice.news.campaign if isinstance(notice.news, Campaigned) else None
    return UntoldMessage(notice.member_id, notice.event_id, channel, kind, owner, cause, why, notice.happened_at)

"""The last reason for which a member did not enter a journey, in the slice of the member: one row for each of both.

The same reason is written once an hour: who has many events costs no more than that. Where the member did enter by
the same event, which is read again, nothing is written.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.engage.journeys.decide.visit import Seen
from abacus.engage.journeys.seat_rows import HAS_ENTERED
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested


class Refusal(NamedTuple):
    """Why a member did not enter at a time, with the conditions that were looked at."""

    member_id: str
    journey: str
    version: int
    at: datetime
    why: str
    seen: Sequence[Seen] = ()


class _Row(NamedTuple):
    """A row of `journey_refusal`."""

    member_id: str
    journey: str
    version: int
    at: datetime
    why: str
    seen: bytes


class _Keyed(NamedTuple):
    """The row, if the member did not enter under the key."""

    member_id: str
    journey: str
    version: int
    at: datetime
    why: str
    seen: bytes
    key: str


_KEEP: Final = Statement(f"""
insert into journey_refusal as r ({columns(_Row)})
select distinct on (u.member_id, u.journey) {columns(_Row, "u")}
from {unnested(_Keyed, version="integer", seen="json")} where not {HAS_ENTERED}
order by u.member_id, u.journey, u.at desc
on conflict (member_id, journey) do update
    set version = excluded.version, at = excluded.at, why = excluded.why, seen = excluded.seen
    where r.at < excluded.at and (
        r.at < excluded.at - interval '1 hour'
        or (r.version, r.why) is distinct from (excluded.version, excluded.why)
    )
""")
_OF_MEMBER: Final = Statement(f"""
select {columns(_Row)} from journey_refusal where member_id = :member_id and journey = :journey
""")


async def keep(connection: Connection, refusals: Iterable[tuple[str, Refusal]]) -> None:
    """The last of each member and journey, where it says something new. Each stands behind the key of what would have
    brought the member in.
    """
    rows = [_Keyed(*_row(refusal), key) for key, refusal in refusals]
    if rows:
        await connection.execute(*_KEEP(**arrays(_Keyed, rows)))


def _row(refusal: Refusal) -> _Row:
    return _Row(*refusal[:-1], orjson.dumps([list(one) for one in refusal.seen]))


async def refusal_of(connection: Connection, journey: str, member_id: str) -> Refusal | None:
    row = await connection.fetchrow(*_OF_MEMBER(member_id=member_id, journey=journey))
    if row is None:
        return None
    seen = [Seen(*each) for each in orjson.loads(row["seen"] or "[]")]
    return Refusal(row["member_id"], row["journey"], row["version"], row["at"], row["why"], seen)

"""The messages of a member: made, sent or not, the newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement


class MemberMessage(NamedTuple):
    """A message on one channel. `about` names the kinds of its news; `failed` is why it did not arrive yet."""

    message_id: str
    channel: str
    locale: str
    about: Sequence[str]
    created_at: datetime
    sent_at: datetime | None
    parked_at: datetime | None
    failed: str | None


_OF_MEMBER: Final = Statement("""
select message_id, channel, locale, parts, created_at, sent_at, parked_at, last_error from notification
where member_id = :member_id order by created_at desc, message_id, channel limit :limit
""")


async def messages_of(pool: Pool, member_id: str, limit: int) -> Sequence[MemberMessage]:
    """Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_OF_MEMBER(member_id=member_id, limit=limit))
    return [MemberMessage(*row)._replace(about=_kinds(row[3])) for row in rows]


def _kinds(parts: bytes) -> list[str]:
    return list(dict.fromkeys(str(each.get("kind", "")) for each in orjson.loads(parts)))

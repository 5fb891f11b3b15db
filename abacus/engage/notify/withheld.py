"""Why a member was not told: what waits, what is never told, and whether the member is held out."""

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.documents.store import DocumentStore
from abacus.documents.types import documents
from abacus.engage.notify.contact_rows import untold_of
from abacus.engage.notify.decide.contact import Cause
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement


class Standing(StrEnum):
    """How it stands with what a member was not told."""

    HELD_OUT = "held out"  # of everything that campaigns say
    WAITS = "waits"
    NEVER = "never told"


class Withheld(NamedTuple):
    """What a member was not told over a channel, and the reason; without a channel, over every channel. `until` is when
    it is looked at again.
    """

    standing: Standing
    about: str
    channel: str | None
    happened_at: datetime | None
    until: datetime | None
    why: str
    event_id: str | None


_WHY: Final = {Cause.QUIET_HOURS: "quiet hours", Cause.CAP: "a cap leaves no room"}

_WAITING: Final = Statement("""
select event_id, part ->> 'kind' as kind, owed, waits_for, due_at, happened_at from notice
where member_id = :member_id and told_at is null and waits_for is not null
order by due_at, event_id limit :limit
""")


async def withheld_of(pool: Pool, member_id: str, countries: Collection[str], limit: int) -> Sequence[Withheld]:
    """The holdouts of these countries first, then what waits, then what is never told. Raises `Unavailable`."""
    policies = documents(await DocumentStore(pool, CONTACT_POLICIES).latest())
    held_out = [
        Withheld(Standing.HELD_OUT, "marketing", None, None, None, policy.why_held_out, None)
        for policy in policies
        if policy.country in countries and policy.holds_out(member_id)
    ]
    return [*held_out, *await _waiting(pool, member_id, limit), *await _never(pool, member_id, limit)]


async def _waiting(pool: Pool, member_id: str, limit: int) -> list[Withheld]:
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_WAITING(member_id=member_id, limit=limit))
    return [
        Withheld(Standing.WAITS, kind, channel, happened_at, due_at, _WHY[Cause(waits_for)], event_id)
        for event_id, kind, owed, waits_for, due_at, happened_at in rows
        for channel in owed
    ]


async def _never(pool: Pool, member_id: str, limit: int) -> list[Withheld]:
    return [
        Withheld(Standing.NEVER, each.kind, each.channel, each.happened_at, None, each.why, each.event_id)
        for each, _ in await untold_of(pool, member_id, limit)
    ]

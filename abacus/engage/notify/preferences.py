"""Members' preferences: the language, the channels over which they are told, and the zone of their quiet hours."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, columns, parameters


class Preferences(NamedTuple):
    """None means the default: English, every channel, and the zone of the country. An empty list of channels means that
    the member is told nothing.
    """

    member_id: str
    locale: str | None
    channels: tuple[ChannelName, ...] | None
    zone: str | None
    set_by: str | None
    set_at: datetime | None


_GET: Final = Statement(f"select {columns(Preferences)} from notification_preference where member_id = :member_id")

_SET: Final = Statement(f"""
insert into notification_preference ({columns(Preferences)}) values ({parameters(Preferences)})
on conflict (member_id) do update set locale = excluded.locale, channels = excluded.channels,
    zone = excluded.zone, set_by = excluded.set_by, set_at = excluded.set_at
""")

_ZONES: Final = Statement("""
select member_id, zone from notification_preference where member_id = any(:members::text[]) and zone is not null
""")


async def zones_of(connection: Connection, member_ids: Collection[str]) -> Mapping[str, str]:
    """The zones that members have named, in the slice of the connection."""
    return {row[0]: row[1] for row in await connection.fetch(*_ZONES(members=sorted(member_ids)))}


class PreferenceStore:
    """Reads and writes preferences. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def get(self, member_id: str) -> Preferences:
        """The preferences of a member; the defaults for a member who has set none."""
        async with slices.at(self._pool, member_id) as connection:
            row = await connection.fetchrow(*_GET(member_id=member_id))
        if row is None:
            return Preferences(member_id, locale=None, channels=None, zone=None, set_by=None, set_at=None)
        stored = Preferences(*row)
        return stored._replace(channels=_in_order(stored.channels))

    async def set(
        self,
        member_id: str,
        *,
        locale: str | None,
        channels: Collection[ChannelName] | None,
        zone: str | None = None,
        by: str,
    ) -> Preferences:
        """Set the preferences for messages that are made from now on."""
        preferences = Preferences(member_id, locale, _in_order(channels), zone, set_by=by, set_at=self._clock.now())
        async with slices.at(self._pool, member_id) as connection:
            await connection.execute(*_SET(**preferences._asdict()))
        return preferences


def _in_order(channels: Collection[str] | None) -> tuple[ChannelName, ...] | None:
    return None if channels is None else tuple(sorted(map(ChannelName, set(channels))))

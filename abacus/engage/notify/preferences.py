"""How members want to be told: in which language, over which channels."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.postgres import Pool, passing_failures


class Preferences(NamedTuple):
    """None means the default: English, and every channel that there is. No channel at all is a wish, too."""

    member_id: str
    locale: str | None
    channels: tuple[ChannelName, ...] | None
    set_by: str | None
    set_at: datetime | None


class PreferenceStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def get(self, member_id: str) -> Preferences:
        """The defaults for a member who never said anything."""
        async with passing_failures():
            row = await self._pool.fetchrow(
                "select locale, channels, set_by, set_at from notification_preference where member_id = $1", member_id
            )
        if row is None:
            return Preferences(member_id, None, None, None, None)
        channels = None if row["channels"] is None else tuple(map(ChannelName, row["channels"]))
        return Preferences(member_id, row["locale"], channels, row["set_by"], row["set_at"])

    async def set(
        self, member_id: str, *, locale: str | None, channels: Collection[ChannelName] | None, by: str
    ) -> Preferences:
        """They hold for messages that are made from now on."""
        now = self._clock.now()
        chosen = None if channels is None else tuple(sorted(set(channels)))
        async with passing_failures():
            await self._pool.execute(
                "insert into notification_preference (member_id, locale, channels, set_by, set_at)"
                " values ($1, $2, $3, $4, $5) on conflict (member_id) do update set locale = excluded.locale,"
                " channels = excluded.channels, set_by = excluded.set_by, set_at = excluded.set_at",
                member_id,
                locale,
                None if chosen is None else list(chosen),
                by,
                now,
            )
        return Preferences(member_id, locale, chosen, by, now)

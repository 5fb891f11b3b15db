"""The partner of each key: all partners in memory, read again when they change and every few seconds, kept while the
database is away.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.keys import is_key, looks_like_key, prefix_of
from abacus.intake.partners.decide.partner import Partner, PartnerKey
from abacus.intake.partners.store import Registered
from abacus.ledger.decide.allowance import Allowance
from abacus.platform.fresh_copy import FreshCopy

DEPENDENCY: Final = "partners"
_READ_EVERY_S: Final = 2.0
_READ_WITHIN_S: Final = 5.0
_LOOK_AGAIN_EVERY_S: Final = 0.5  # however many wrong keys are tried
_NOTE_EVERY_S: Final = 30.0


class Partners(Protocol):
    """The store of partners."""

    async def all(self) -> list[Registered]: ...

    async def note_use(self, last_used: dict[str, datetime]) -> None: ...


class _Index(NamedTuple):
    """All partners by id, and all keys by prefix."""

    partners: dict[str, Registered]
    keys: dict[str, PartnerKey]

    @classmethod
    def of(cls, partners: Sequence[Registered]) -> "_Index":
        return cls(
            {each.partner.partner_id: each for each in partners},
            {key.prefix: key for each in partners for key in each.keys},
        )


class Directory:
    """Finds the partner of a key. Its copy is as old as the last announced change, two seconds old where announcements
    are not heard, or older while the database is away.
    """

    def __init__(self, store: Partners, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._copy = FreshCopy(
            DEPENDENCY,
            store.all,
            key=lambda each: each.partner.partner_id,
            build=_Index.of,
            refresh_every_s=_READ_EVERY_S,
            load_within_s=_READ_WITHIN_S,
            look_again_every_s=_LOOK_AGAIN_EVERY_S,
        )
        self._last_used: dict[str, datetime] = {}

    async def find(self, text: str) -> Partner | None:
        """The partner of this key, or None. Raises `Unavailable` when no partners were ever read."""
        if not looks_like_key(text):
            return None
        key = await self._key(prefix_of(text))
        now = self._clock.now()
        if key is None or not is_key(text, key.digest) or not key.holds(now):
            return None
        partner = self._copy.value().partners[key.partner_id].partner
        if partner.disabled_at is not None:
            return None
        self._last_used[key.prefix] = now
        return partner

    async def partner(self, partner_id: str) -> Partner | None:
        """The partner of this id. Raises `Unavailable` when no partners were ever read."""
        if partner_id not in self._copy.value().partners:
            await self._copy.look_again(wait=True)  # perhaps it was made a moment ago
        registered = self._copy.value().partners.get(partner_id)
        return None if registered is None else registered.partner

    def allowance(self, partner_id: str) -> Allowance:
        """The allowance as last read; the ledger decides by its own when the award is posted."""
        return self._copy.value().partners[partner_id].allowance

    async def keep_fresh(self) -> None:
        """Runs until cancelled: reads the partners again and again."""
        await self._copy.keep_fresh()

    def wake(self) -> None:
        """The partners have changed: they are read now rather than later."""
        self._copy.wake()

    async def keep_noting_use(self) -> None:
        """Runs until cancelled: writes the times of the keys' last use."""
        while True:
            await asyncio.sleep(_NOTE_EVERY_S)
            with suppress(Unavailable):
                await self.note_use()

    async def note_use(self) -> None:
        """Writes the times of the keys' last use. Raises `Unavailable`, and keeps the times that it has not written."""
        if self._last_used:
            used, self._last_used = self._last_used, {}
            try:
                await self._store.note_use(used)
            except Unavailable:
                self._last_used = used | self._last_used
                raise

    async def _key(self, prefix: str) -> PartnerKey | None:
        with suppress(Unavailable):
            if (key := self._copy.value().keys.get(prefix)) is not None:
                return key
        await self._copy.look_again(wait=True)  # perhaps it was made a moment ago
        return self._copy.value().keys.get(prefix)

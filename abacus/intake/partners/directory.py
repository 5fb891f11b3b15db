"""Who is behind a key: all partners in memory, read again every few seconds, kept while the database is away."""

import asyncio
import time
from contextlib import suppress
from datetime import datetime
from typing import Final, Protocol

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.keys import is_key, looks_like_key, prefix_of
from abacus.intake.partners.decide.partner import Partner, PartnerKey
from abacus.intake.partners.store import Registered
from abacus.ledger.decide.allowance import Allowance

DEPENDENCY: Final = "partners"
_READ_EVERY_S: Final = 2.0
_LOOK_AGAIN_EVERY_S: Final = 0.5  # however many wrong keys are tried
_NOTE_EVERY_S: Final = 30.0

log = structlog.get_logger(__name__)


class Partners(Protocol):
    """Where the partners are kept."""

    async def all(self) -> list[Registered]: ...

    async def note_use(self, last_used: dict[str, datetime]) -> None: ...


class Directory:
    """Finds the partner of a key. What it knows may be two seconds old, or older while the database is away."""

    def __init__(self, store: Partners, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._registered: dict[str, Registered] | None = None
        self._keys: dict[str, PartnerKey] = {}
        self._last_used: dict[str, datetime] = {}
        self._tried_at = float("-inf")
        self._reading = asyncio.Lock()
        self._why_not = "not read yet"

    async def find(self, text: str) -> Partner | None:
        """The partner whose key this is, or nobody. Raises `Unavailable` when no partners were ever read."""
        if not looks_like_key(text):
            return None
        key = self._keys.get(prefix_of(text))
        if key is None:  # perhaps it was made a moment ago
            await self._look_again()
            key = self._keys.get(prefix_of(text))
        if self._registered is None:
            raise Unavailable(DEPENDENCY, self._why_not)
        now = self._clock.now()
        if key is None or not is_key(text, key.digest) or not key.holds(now):
            return None
        partner = self._registered[key.partner_id].partner
        if partner.disabled_at is not None:
            return None
        self._last_used[key.prefix] = now
        return partner

    def allowance(self, partner_id: str) -> Allowance:
        """As last read: the ledger's own word comes when the award is posted."""
        return (self._registered or {})[partner_id].allowance

    @property
    def known(self) -> bool:
        return self._registered is not None

    async def keep_fresh(self) -> None:
        """Until cancelled: read the partners, and note when keys were last used."""
        failing = False
        noted_at = time.monotonic()
        while True:
            try:
                await self._read()
                if time.monotonic() - noted_at >= _NOTE_EVERY_S:
                    noted_at = time.monotonic()
                    await self.note_use()
            except Unavailable as error:
                if not failing:
                    log.warning("partners cannot be read", why=str(error), known=self.known)
                failing = True
            else:
                failing = False
            await asyncio.sleep(_READ_EVERY_S)

    async def note_use(self) -> None:
        """Raises `Unavailable`, and keeps what it has not written."""
        if self._last_used:
            used, self._last_used = self._last_used, {}
            try:
                await self._store.note_use(used)
            except Unavailable:
                self._last_used = used | self._last_used
                raise

    async def _look_again(self) -> None:
        """Returns after a reading that began later than this call; many callers wait for the same one."""
        asked_at = time.monotonic()
        async with self._reading:
            if self._tried_at < asked_at:
                await asyncio.sleep(self._tried_at + _LOOK_AGAIN_EVERY_S - asked_at)
                with suppress(Unavailable):
                    await self._read()

    async def _read(self) -> None:
        self._tried_at = time.monotonic()
        try:
            async with asyncio.timeout(5):
                registered = await self._store.all()
        except TimeoutError:
            self._why_not = "not read within 5 s"
            raise Unavailable(DEPENDENCY, self._why_not) from None
        except Unavailable as error:
            self._why_not = error.detail
            raise
        self._registered = {each.partner.partner_id: each for each in registered}
        self._keys = {key.prefix: key for each in registered for key in each.keys}

"""The partner of each key: all partners in memory, read again when they change and every few seconds, kept while the
database is away.
"""

from datetime import datetime
from functools import partial
from typing import Final, Protocol

from abacus.core.clock import Clock
from abacus.intake.partners.decide.partner import LIVE_KEY, TEST_KEY, Partner
from abacus.intake.partners.store import Registered
from abacus.ledger.decide.allowance import Allowance
from abacus.platform.keyring import Keyring

DEPENDENCY: Final = "partners"
_SLICES_WITHIN_S: Final = 1.0  # what partners have awarded is no more than a hint here; a server may be silent


class Partners(Protocol):
    """The store of partners."""

    async def all(self, *, within_s: float) -> list[Registered]: ...

    async def note_use(self, last_used: dict[str, datetime]) -> None: ...


class Directory(Keyring[Registered]):
    """Finds the partner of a key. Its copy is as old as the last announced change, two seconds old where announcements
    are not heard, or older while the database is away.
    """

    def __init__(self, store: Partners, clock: Clock) -> None:
        super().__init__(
            DEPENDENCY,
            (LIVE_KEY, TEST_KEY),
            partial(store.all, within_s=_SLICES_WITHIN_S),
            store.note_use,
            clock,
            id_of=lambda each: each.partner.partner_id,
            tokens_of=lambda each: each.keys,
            is_open=lambda each: each.partner.disabled_at is None,
        )

    async def find(self, text: str) -> Partner | None:
        """The partner of this key, or None. Raises `Unavailable` when no partners were ever read."""
        registered = await self.owner_of(text)
        return registered.partner if registered is not None else None

    async def partner(self, partner_id: str) -> Partner | None:
        """The partner of this id. Raises `Unavailable` when no partners were ever read."""
        registered = await self.look_up(partner_id)
        return registered.partner if registered is not None else None

    def allowance(self, partner_id: str) -> Allowance:
        """The allowance as last read; the ledger decides by its own when the award is posted."""
        return self.owner(partner_id).allowance

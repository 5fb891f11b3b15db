"""What people do with single codes: the caller checks each deed, the desk does it and writes it into the log."""

import secrets as randomness
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import Clock
from abacus.core.codes import drawn
from abacus.core.errors import Refused, absent
from abacus.engage.offers.codes.code_key import code_key
from abacus.engage.offers.codes.loader import Batch, CodeLoader, Loaded
from abacus.engage.offers.codes.pools import BatchState, batch_states, country_of, withdraw
from abacus.engage.offers.offer_store import OfferStore
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures, together

MOST_DRAWN: Final = 10_000_000  # codes at once


class CodeDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(self, pool: Pool, clock: Clock, secrets: Secrets) -> None:
        self._pool = pool
        self._clock = clock
        self._secrets = secrets
        self._offers = OfferStore(pool)

    async def country(self, offer: str, named: str | None) -> str:
        """The country of an offer, or of its pool where it is not drafted yet; of a new pool, the one named."""
        history = await self._offers.history(offer)
        country = history[-1].document.country if history else await country_of(self._pool, offer)
        if country is None and named is None:
            raise Refused(f"there is no offer {offer!r} yet; name its country with --country")
        if None not in {country, named} and country != named:
            raise Refused(f"{offer} is an offer of {country}, not of {named}")
        return country or named or ""

    async def load(
        self, batch: Batch, codes: Iterable[str], by: Actor, *, file: str | None = None, also: Also = nothing_else
    ) -> Loaded:
        """The log has it before the first code; what was cut off is done when it is done again."""
        key = await code_key(self._pool, self._secrets)
        logged = self._logged(batch.offer, batch.country, by, did="load-codes", batch=batch.name, file=file)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await together(logged, also)(connection)
        return await CodeLoader(self._pool, key).load(batch, codes, self._clock.now())

    async def withdraw(self, offer: str, batch: str, country: str, by: Actor, *, also: Also = nothing_else) -> None:
        """No code of the batch is taken any more. What is reserved or redeemed stays."""
        logged = self._logged(offer, country, by, did="withdraw-codes", batch=batch)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await withdraw(connection, offer, batch, self._clock.now()):
                raise absent("batch of codes that is not withdrawn", batch, f"abacus offers codes show {offer}")
            await together(logged, also)(connection)

    async def batches(self, offer: str | None = None) -> Sequence[BatchState]:
        return await batch_states(self._pool, None if offer is None else [offer])

    def _logged(self, offer: str, country: str, by: Actor, **details: object) -> Also:
        now = self._clock.now()
        return noted(entry_of(by.source, Deed.EDIT_OFFERS, f"offer:{offer}", now, country=country, **details))


def named_at(what: str, now: datetime) -> str:
    """The name of a batch that nobody has named."""
    return f"{what}-{now:%Y-%m-%dT%H:%M:%S}"


def drawn_codes(count: int) -> Iterator[str]:
    """New codes, which nobody can guess."""
    for _ in range(count):
        yield drawn(randomness.randbelow)

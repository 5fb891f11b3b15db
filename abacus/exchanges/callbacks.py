"""What partners tell by themselves: signed messages, which end where answers to the house's own questions end."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from abacus.core.clock import Clock
from abacus.exchanges.decide.contract import told_by
from abacus.exchanges.decide.heard import Heard
from abacus.platform.delivery.decide.signature import check_signed, signed_in


class HeardBy(Protocol):
    """Does what follows from what a partner says. It may be said again, and of an id that nobody knows: nothing follows
    then.
    """

    async def heard(self, programme: str, exchange_id: UUID, heard: Heard) -> object:
        """Raises `Unavailable`."""
        ...


# The secrets of the partner of a programme; none for a programme that nobody knows. Raises `Unavailable`.
SecretsOf = Callable[[str], Awaitable[Sequence[str]]]


class Callbacks:
    """The one door for them."""

    def __init__(self, secrets_of: SecretsOf, heard_by: HeardBy, clock: Clock) -> None:
        self._secrets_of = secrets_of
        self._heard_by = heard_by
        self._clock = clock

    async def take(self, programme: str, headers: Mapping[str, str], body: bytes) -> None:
        """The names of headers are in small letters. Raises `BadSignature`, `NotOfContract` for what the contract does
        not have, and `Unavailable`.
        """
        signed = signed_in(headers, self._clock.now().timestamp())  # before anything is read
        check_signed(await self._secrets_of(programme), signed, body)
        told = told_by(body)
        await self._heard_by.heard(programme, told.exchange_id, told.heard)

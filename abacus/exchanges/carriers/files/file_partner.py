"""A partner that is reached by files: what it is asked for waits for the next file, and is pending meanwhile.

What it answers comes by its results, as callbacks of other partners do: `FileKeeper` tells them.
"""

from collections.abc import Sequence
from datetime import date
from typing import Final
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.decide.heard import Heard, Pending, Silence
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.decide.transfer_file import Line, read_statement, statement_name
from abacus.exchanges.types import Account, Match, PartnerStatement, Recalled, Transfer
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.object_places import open_place

_GATHER_S: Final = 0.005
_MOST_TOGETHER: Final = 2_000
_WAITS: Final = Pending("it waits for a file, or for the answer to one", by_itself=True)

_Request = PendingRequest[tuple[UUID, Line], Heard]


class FilePartner:
    """`PartnerPort` by files."""

    def __init__(self, programme: Programme, carrier: ByFile, rows: FileRows, clock: Clock) -> None:
        self._programme = programme
        self._carrier = carrier
        self._rows = rows
        self._clock = clock
        self._gatherer: Gatherer[tuple[UUID, Line], Heard] = Gatherer(
            self._enter, gather_s=_GATHER_S, most_together=_MOST_TOGETHER
        )

    async def put(self, transfer: Transfer) -> Heard:
        return await self._order(transfer.exchange_id, Line.TRANSFER)

    async def get(self, _: UUID) -> Heard:
        """What is known was told when the results came."""
        return _WAITS

    async def cancel(self, exchange_id: UUID) -> Heard:
        return await self._order(exchange_id, Line.CANCEL)

    async def reverse(self, exchange_id: UUID) -> Heard:
        return await self._order(exchange_id, Line.REVERSE)

    async def verify(self, _: Account) -> Match:
        """Nobody can be asked: a member proves an account by a code."""
        raise Unavailable(self._programme.partner, "accounts are not verified by files")

    async def recalled(self, _: UUID) -> Recalled | None:
        """Files tell no more than their lines."""
        return None

    async def statement(self, day: date) -> PartnerStatement:
        partner = self._programme.partner
        async with open_place(self._carrier.place) as place:
            text = await place.get(statement_name(partner, day))
        if text is None:
            raise Unavailable(partner, f"there is no {statement_name(partner, day)} yet")
        return read_statement(partner, day, text)

    async def _order(self, exchange_id: UUID, line: Line) -> Heard:
        try:
            return await self._gatherer.ask((exchange_id, line))
        except Unavailable as error:
            return Silence(str(error))

    async def _enter(self, requests: Sequence[_Request]) -> None:
        await self._rows.enter(self._programme.name, [each.request for each in requests], self._clock.now())
        for each in requests:
            each.answer(_WAITS)

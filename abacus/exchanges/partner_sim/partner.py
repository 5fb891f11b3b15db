"""The reference partner, put together."""

import asyncio
from pathlib import Path

from abacus.core.clock import Clock
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.partner_sim.app import PartnerSim
from abacus.exchanges.partner_sim.behaviour import Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.errands import Errands
from abacus.exchanges.partner_sim.files import FolderPartner
from abacus.exchanges.partner_sim.inbound import House
from abacus.exchanges.partner_sim.operator import Operator
from abacus.exchanges.partner_sim.sign_in import SignInDoor
from abacus.platform.object_places import Folder

_AT_ONCE = 50


class ReferencePartner:
    """Its `app` is served by the caller, beside `run`; `close` it at the end. `callbacks` is the whole address that it
    tells of transfers; `house` and `house_key` are where its members send points, and the key that is shown there.
    In `folder` it looks for files of the house, and answers them there. Where members sign in the house proves itself
    by the `client_secret`, or else by the secret.
    """

    def __init__(
        self,
        secret: str,
        clock: Clock,
        *,
        file: Path | None = None,
        callbacks: str | None = None,
        house: str | None = None,
        house_key: str = "",
        folder: Path | None = None,
        client_secret: str | None = None,
    ) -> None:
        self._books = Books(file)
        fates = Fates()
        self._callbacks = _line(callbacks) if callbacks else None
        self._house = House(_line(house), house_key) if house else None
        self._errands = Errands(self._books, fates, secret, clock, callbacks=self._callbacks, house=self._house)
        self._folder = FolderPartner(Folder(folder), self._books, fates, clock) if folder else None
        operator, sign_ins = Operator(self._books, fates, clock), SignInDoor(client_secret or secret, clock)
        self.app = PartnerSim(self._books, fates, [secret], clock, operator, sign_ins=sign_ins)

    async def run(self, stop: asyncio.Event) -> None:
        if self._folder is None:
            await self._errands.run(stop)
        else:
            await asyncio.gather(self._errands.run(stop), self._folder.run(stop))

    async def close(self) -> None:
        for each in (self._callbacks, self._house):
            if each is not None:
                await each.close()
        await self._books.close()


def _line(url: str) -> Line:
    return Line(url, to_private=True, at_once=_AT_ONCE)

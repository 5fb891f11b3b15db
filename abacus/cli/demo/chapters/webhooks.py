"""Acme's webhook: it is told what became of its awards, until its server is away on the last days."""

import asyncio
import re
from datetime import date, timedelta
from typing import Final

from abacus.cli.demo.chapters.partner import ACME
from abacus.cli.demo.story.chapter import Chapter
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.people.types.deed import Deed
from abacus.platform.encryption import Secrets

_AWAY_SINCE: Final = timedelta(days=2)
_LENGTH: Final = re.compile("content-length: ([0-9]+)", re.IGNORECASE)
_TAKEN: Final = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
_AWAY: Final = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Webhooks(Chapter):
    """Olga sets it. Acme's server is on this machine for as long as the story is told."""

    async def begin(self) -> None:
        self._answer = _TAKEN
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        at, secrets = self.house.at("olga"), Secrets.of(self.house.settings.secrets_key)
        desk, url = WebhookDesk(WebhookStore(at.pool, at.clock, secrets), to_private=True), f"http://127.0.0.1:{port}/"
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{ACME}", did="webhook", url=url)
        await desk.set(ACME, desk.checked(url), also=also)

    async def day(self, day: date) -> None:
        if self.house.today - day < _AWAY_SINCE:
            self._answer = _AWAY

    async def end(self) -> None:
        self._server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        await reader.readexactly(int(_LENGTH.findall(head)[0]))
        writer.write(self._answer)
        await writer.drain()
        writer.close()

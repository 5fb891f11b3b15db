"""Two months whose books are closed, by the commands of finance. The last month that is over waits for its close."""

import asyncio
import os
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.demo.story.house import House
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.cli.terminal.shell import people_pool
from abacus.core.errors import Refused
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.settings import PREFIX
from abacus.programs.expiry.decide.month import Month

_FOR: Final = timedelta(days=90)
_ACCOUNTS: Final = {
    "issued": ("6100 Loyalty expense", "2400 Points liability"),
    "spent": ("2400 Points liability", "1200 Settled with partners"),
    "expired": ("2400 Points liability", "4800 Breakage"),
    "reversed": ("2400 Points liability", "6100 Loyalty expense"),
    "adjusted": ("6110 Goodwill", "2400 Points liability"),
}


class Closes(Chapter):
    """Finn closes them."""

    looks = (Look("finn", "/finance", "two closed months, a third that can be closed now, and what the points cost"),)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing.set_result(None)

    async def month_ended(self, month: Month) -> None:
        await self._closing
        if month in _to_close(self.house.today):
            self._closing = asyncio.ensure_future(self._close(month))  # which takes some days

    async def end(self) -> None:
        await self._closing

    async def _close(self, month: Month) -> None:
        """As a person does it in a terminal: reconcile, look, and sign."""
        since, until = month.before.last_day, month.after.first_day
        with tempfile.TemporaryDirectory(prefix="abacus-close-") as folder:
            accounts, account = Path(folder) / "accounts.toml", Path(folder) / f"account-{month}.json"
            accounts.write_text(_mapping(), encoding="utf-8")
            window = ("--from", f"{since}T12:00:00+00:00", "--to", f"{until}T00:20:00+00:00")
            token = await self._token()
            await self._run(token, "reconcile", *window, "--out", str(account))
            files = ("--mapping", str(accounts), "--out", folder, "--reconciled", str(account))
            await self._run(token, "report", "close", "--month", str(month), *files)

    async def _run(self, token: str, *words: str) -> None:
        given = {**os.environ, **self.house.settings.environment(), f"{PREFIX}TOKEN": token}
        command = (sys.executable, "-m", "abacus", *words)
        run = await asyncio.create_subprocess_exec(
            *command, env=given, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        told, _ = await run.communicate()
        if run.returncode:
            raise Refused(f"abacus {' '.join(words)}: {told.decode().strip()}")

    async def _token(self) -> str:
        async with people_pool(self.house.settings) as entering:
            clock, by = self.house.clock, Actor(login(), None)
            at = CommandActor(by, people_required=False, pool=entering, clock=clock)
            also = at.told(Deed.MANAGE_PEOPLE, "person:finn", did="token", days=_FOR.days)
            token, _ = await PeopleStore(entering, clock).add_token("finn", holds_for=_FOR, by=by, also=also)
        return token.text


def _to_close(today: date) -> list[Month]:
    last_over = Month.of(today).before
    return [last_over.before.before, last_over.before]


def _mapping() -> str:
    """The accounts of the journal, the same in every country."""
    lines = [
        f'["*"."*".{kind}]\ndebit = "{debit}"\ncredit = "{credit}"\n' for kind, (debit, credit) in _ACCOUNTS.items()
    ]
    return "\n".join(lines)

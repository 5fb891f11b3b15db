"""`abacus exchanges client-secret`: the house's secret as a client of a partner at which members sign in."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import secrets
from abacus.core.errors import Refused, absent
from abacus.exchanges.client_secrets import LONGEST, ClientSecrets
from abacus.exchanges.decide.sign_in import client_of
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.people.types.deed import Deed

_STANDARD_INPUT: Final = Path("-")


async def set_client_secret(
    programme: Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Its one line is the secret; - is the standard input.", show_default=False),
    ],
) -> Answer:
    """Keep the secret by which the house asks whose a sign-in is; the partner gave it with the client id.

    It is stored encrypted, never shown, and takes the place of the one before at once. It is told to the server that
    the version in force names; a version that names another one needs another secret.
    """
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"programme:{programme}", did="client-secret")
        store = ProgrammeStore(at.pool)
        if programme not in await store.partners():
            raise absent("programme", programme)
        last = await ProgrammeVersions(store).last(programme)
        if last is None or last.sign_in is None:
            raise Refused(f"{programme}: no version with `oauth` is in force, so there is no client yet")
        secret, client, now = await asyncio.to_thread(_read, file), client_of(last.sign_in), at.clock.now()
        await ClientSecrets(at.pool, secrets()).set(programme, secret, client, at.actor.source, now, also=also)
    return Answer(
        {"programme": programme, "client": client, "set_at": now}, f"{programme}: the secret of {client} is kept"
    )


def _read(file: Path) -> str:
    """Raises `Refused`."""
    try:
        content = sys.stdin.read(LONGEST + 2) if file == _STANDARD_INPUT else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise Refused(f"{file}: {fault}") from None
    return content.removesuffix("\n").removesuffix("\r")

"""Code that the commands share: running, failing in one line, printing for people and for machines."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from abacus.core.errors import AbacusError, Refused, Unavailable
from abacus.platform.encryption import Secrets
from abacus.platform.logs import configure_logging
from abacus.platform.postgres import APPLICATION_ROLE, Pool, open_pool
from abacus.platform.settings import Settings, read_settings
from abacus.platform.sqs.queue import Client, sqs_client

EXIT_FAILED: Final = 1
EXIT_REFUSED: Final = 2

console: Final = Console()
errors: Final = Console(stderr=True, soft_wrap=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]


class SeveralRefused(Refused):
    """Several refusals, each printed in a line of its own. Everything else that was wanted is done."""

    def __init__(self, faults: Sequence[Refused]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a command. An expected failure ends it with one line (or one per fault) and an exit code."""
    try:
        with _runner() as runner:
            runner.run(main)
    except AbacusError as error:
        fail(error)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def fail(error: AbacusError) -> None:
    for line in getattr(error, "faults", None) or [error]:
        errors.print(f"abacus: {line}", style=None, markup=False)
    raise typer.Exit(EXIT_FAILED if isinstance(error, Unavailable) else EXIT_REFUSED)


def settings() -> Settings:
    """The settings, with logging set up by them."""
    values = read_settings()
    configure_logging(values.log_format)
    return values


@asynccontextmanager
async def database(
    settings: Settings, *, role: str | None = APPLICATION_ROLE, session: Mapping[str, str] | None = None
) -> AsyncIterator[Pool]:
    """A pool for a command. Raises `Unavailable` at once when there is no database."""
    pool = await open_pool(settings.required("database_url"), size=4, role=role, settings=session)
    try:
        yield pool
    finally:
        await pool.close()


def sqs(settings: Settings) -> AbstractAsyncContextManager[Client]:
    """A client for a command."""
    return sqs_client(settings.sqs_endpoint_url)


@asynccontextmanager
async def pool(*, role: str | None = APPLICATION_ROLE, session: Mapping[str, str] | None = None) -> AsyncIterator[Pool]:
    """A pool on the database that the settings name. Raises `Refused` or `Unavailable`."""
    async with database(read_settings(), role=role, session=session) as opened:
        yield opened


def secrets() -> Secrets:
    """Secrets as this process stores them."""
    return Secrets.of(read_settings().secrets_key)


def print_json(document: object) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def counted(count: int, thing: str) -> str:
    """A number with its noun, such as "1 item" or "2,000 items"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    shown = Table(title=title, title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        shown.add_column(column, overflow="fold", no_wrap=not place)  # the first is for other commands
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def moment(option: str, text: str) -> datetime:
    """The time that an option names, in UTC. Raises `Refused`."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{option}: {text!r} is not a time like 2026-05-01T00:00:00+08:00") from None
    if when.tzinfo is None:
        raise Refused(f"{option}: {text!r} has no offset; write {when.isoformat()}+00:00 for UTC")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise Refused(f"{option}: {text!r} is before the first year, or after the last, in UTC") from None


def _runner() -> "asyncio.Runner":
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)

"""Code that the commands share: running, failing in one line, printing for people and for machines."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from abacus.cli.terminal.documents import text_of
from abacus.cli.terminal.layout import blocks, fits, visible
from abacus.core.errors import AbacusError, Absent, Refused, Unavailable
from abacus.platform.encryption import Secrets
from abacus.platform.logins import people_login, role_for
from abacus.platform.logs import configure_logging
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.sandbox import SESSION
from abacus.platform.settings import Settings, read_settings

if TYPE_CHECKING:
    from abacus.platform.sqs.queue import Client

Main = TypeVar("Main", bound=Callable[..., Coroutine[Any, Any, None]])

EXIT_FAILED: Final = 1
EXIT_REFUSED: Final = 2


class PlainConsole(Console):
    """Prints data as it is: `:taxi:` is no picture and `[bold]` no style, and control characters are shown instead of
    obeyed.
    """

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


console: Final = PlainConsole()
errors: Final = PlainConsole(stderr=True, soft_wrap=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]


class SeveralRefused(Refused):
    """Several refusals, each printed in a line of its own. Everything else that was wanted is done."""

    def __init__(self, faults: Sequence[Refused]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


class CommandGroup(typer.Typer):
    """Commands that are coroutines."""

    def command(self, *args: Any, **options: Any) -> Callable[[Main], Main]:
        enter = super().command(*args, **options)

        def entered(main: Main) -> Main:
            @wraps(main)
            def command(*args: Any, **options: Any) -> None:
                run(main(*args, **options))

            enter(command)
            return main

        return entered


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
        errors.print(f"abacus: {line}")
    raise typer.Exit(EXIT_FAILED if isinstance(error, Unavailable | Absent) else EXIT_REFUSED)


def settings() -> Settings:
    """The settings, with logging set up by them."""
    values = read_settings()
    configure_logging(values.log_format)
    return values


@asynccontextmanager
async def database(
    settings: Settings, *, role: str | None = APPLICATION_ROLE, session: Mapping[str, str] | None = None
) -> AsyncIterator[Pool]:
    """A pool for a command. Raises `Unavailable` at once when there is no database, and `Refused` for a token that does
    not hold, whatever the command does: it would act or see as somebody else.
    """
    pool = await open_pool(settings.required("database_url"), size=4, role=role, settings=session)
    try:
        if settings.token is not None and session != SESSION:  # people are not in the sandbox
            from abacus.cli.terminal.command_actor import acting  # noqa: PLC0415  # most commands of machines have no token

            await acting(pool)
        yield pool
    finally:
        await pool.close()


def sqs(settings: Settings) -> "AbstractAsyncContextManager[Client]":
    """A client for a command."""
    from abacus.platform.sqs.queue import sqs_client  # noqa: PLC0415  # most commands have no queue

    return sqs_client(settings.sqs_endpoint_url)


@asynccontextmanager
async def people_pool() -> AsyncIterator[Pool]:
    """A pool for a command that enters people, or makes their ways in. Raises `Refused` or `Unavailable`."""
    async with people_database(read_settings()) as opened:
        yield opened


@asynccontextmanager
async def people_database(settings: Settings) -> AsyncIterator[Pool]:
    login = people_login(settings.people_database_url)
    url = login.url or settings.required("database_url")
    role = await role_for(url, login.role, login.setting)
    async with database(settings.model_copy(update={"database_url": url}), role=role) as opened:
        yield opened


@asynccontextmanager
async def pool(*, role: str | None = APPLICATION_ROLE, session: Mapping[str, str] | None = None) -> AsyncIterator[Pool]:
    """A pool on the database that the settings name. Raises `Refused` or `Unavailable`."""
    async with database(read_settings(), role=role, session=session) as opened:
        yield opened


def secrets() -> Secrets:
    """Secrets as this process stores them."""
    return Secrets.of(read_settings().secrets_key)


def print_json(document: object) -> None:
    """Print one document in one line."""
    sys.stdout.write(text_of(document) + "\n")
    sys.stdout.flush()


def counted(count: int, thing: str) -> str:
    """A number with its noun, such as "1 item" or "2,000 items"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their title: as a table if every cell fits in its line, else one after the other."""
    console.print(title, style="bold", soft_wrap=True)
    if not fits(columns, rows, console.width):
        for line in blocks(columns, rows) if rows else ["none"]:
            console.print(line, soft_wrap=True)
        return
    shown = Table()
    for column in columns:
        shown.add_column(column, no_wrap=True)
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

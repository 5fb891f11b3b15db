"""Code that the commands share: running, failing in one line, printing for people and for machines."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from abacus.cli.terminal.answer import Answer, Formats, fail
from abacus.core.errors import AbacusError, Refused
from abacus.platform.encryption import Secrets
from abacus.platform.logins import Login, console_login, people_login, role_for
from abacus.platform.logs import configure_logging
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.sandbox import SESSION
from abacus.platform.settings import Settings, read_settings

if TYPE_CHECKING:
    from abacus.platform.sqs.queue import Client

Value = TypeVar("Value")
Main = TypeVar("Main", bound=Callable[..., Coroutine[Any, Any, Answer | None]])


class SeveralRefused(Refused):
    """Several refusals, each printed in a line of its own. Everything else that was wanted is done."""

    def __init__(self, faults: Sequence[Refused]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


class CommandGroup(typer.Typer):
    """Commands that are coroutines. A command has the options of the kind of `Answer` that it returns."""

    def command(self, *args: Any, **options: Any) -> Callable[[Main], Main]:
        enter = super().command(*args, **options)

        def entered(main: Main) -> Main:
            answer = inspect.signature(main).return_annotation
            is_answer = isinstance(answer, type) and issubclass(answer, Answer)
            enter(_answering(main, answer) if is_answer else _running(main))
            return main

        return entered


def _running(main: Callable[..., Coroutine[Any, Any, object]]) -> Callable[..., None]:
    @wraps(main)
    def command(**options: Any) -> None:
        run(main(**options))

    return command


def _answering(main: Callable[..., Coroutine[Any, Any, Any]], kind: type[Answer]) -> Callable[..., None]:
    async def answered(formats: Formats, options: dict[str, Any]) -> None:
        formats.check()
        answer: Answer = await main(**options)
        answer.print(formats)

    @wraps(main)
    def command(**options: Any) -> None:
        formats = Formats(**{each.name: options.pop(each.name) for each in kind.OPTIONS})
        run(answered(formats, options))

    signature = inspect.signature(main)
    parameters = [*signature.parameters.values(), *kind.OPTIONS]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
    return command


def run(main: Coroutine[Any, Any, Value]) -> Value:
    """Run a command. An expected failure ends it with one line (or one per fault) and an exit code."""
    try:
        with _runner() as runner:
            return runner.run(main)
    except AbacusError as error:
        fail(error)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


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
async def people_pool(config: Settings | None = None) -> AsyncIterator[Pool]:
    """A pool for a command that enters people, or makes their ways in, by the settings of this process where no others
    are given. Raises `Refused` or `Unavailable`.
    """
    settings = config or read_settings()
    async with _logged_in(settings, people_login(settings.people_database_url)) as opened:
        yield opened


@asynccontextmanager
async def console_pool(settings: Settings) -> AsyncIterator[Pool]:
    """A pool for what the console's processes do. Raises `Refused` or `Unavailable`."""
    async with _logged_in(settings, console_login(settings.console_database_url)) as opened:
        yield opened


@asynccontextmanager
async def _logged_in(settings: Settings, login: Login) -> AsyncIterator[Pool]:
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

"""Connections that are led to a slice, and whose statements wait for no server that is silent."""

from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from types import TracebackType
from typing import Any

import asyncpg
from asyncpg.transaction import Transaction

from abacus.platform.pool.known_types import KNOWN_TYPES
from abacus.platform.pool.silence import StatementWatch, Watch

Watches = Callable[[Iterable[str | None]], Iterable[Watch]]


def nobody_watches(_: Iterable[str | None]) -> Iterable[Watch]:
    """Until somebody uses the connection."""
    return ()


def _watched(name: str) -> Callable[..., Awaitable[Any]]:
    """asyncpg's method of that name. While its statement is under way, its servers are watched."""

    @wraps(getattr(asyncpg.Connection, name))
    async def watched(connection: "LedConnection", *arguments: Any, **options: Any) -> Any:
        with connection.listening():
            return await getattr(super(LedConnection, connection), name)(*arguments, **options)

    return watched


class _Transaction(Transaction):  # type: ignore[misc]  # asyncpg has no types
    """That a session which was cut cannot be rolled back must not stand in for why the block ended: a task that is
    cancelled would go on.
    """

    async def start(self) -> None:
        if self._connection.is_closed():
            raise asyncpg.InterfaceError("the session was cut off")
        await super().start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            if kind is None:
                raise


class LedConnection(asyncpg.Connection):  # type: ignore[misc]  # as above
    """Knows the slice that its session was led to: the tables of that schema come before those of `public`. It ends
    with a statement that has no answer.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._led_to: str | None = None
        self._is_astray = False
        self._own: Watch | None = None
        self._watches: Watches = nobody_watches
        self._reached: set[str | None] = set()

    @property
    def slice_schema(self) -> str | None:
        """The slice whose tables it has under their names."""
        return self._led_to

    def begin(self, own: Watch | None, watches: Watches) -> None:
        """Somebody uses it from now on, at the servers of the slices that it is led to. `own` watches the server of the
        session, if that has slices.
        """
        self._own = own
        self._watches = watches
        self._reached = {self._led_to}

    async def lead(self, schema: str | None) -> None:
        """None leads it back to where it began. Raises `ConnectionError` when the server of the slice is away."""
        if schema is not None:
            for watch in self._watches((schema,)):
                watch.refuse()
            self._reached.add(schema)
        if schema == self._led_to and not self._is_astray:
            return
        self._is_astray = True  # until the server has said that it is there
        await self.execute("reset search_path" if schema is None else f"set search_path = {schema}, public")
        self._led_to, self._is_astray = schema, False

    def is_astray(self) -> None:
        """The next use leads it anew, wherever it was led before."""
        self._is_astray = True

    async def reset(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109  # as asyncpg has it
        await super().reset(timeout=timeout)
        self._led_to, self._is_astray = None, False

    def listening(self) -> StatementWatch:
        """While a statement is under way."""
        return StatementWatch(self, self._own, lambda: self._watches(self._reached))

    def transaction(
        self, *, isolation: str | None = None, readonly: bool = False, deferrable: bool = False
    ) -> _Transaction:
        self._check_open()
        return _Transaction(self, isolation, readonly, deferrable)

    async def _introspect_types(self, typeoids: Iterable[int], timeout: float | None) -> Any:  # noqa: ASYNC109  # as above
        """What the server says of types of which asyncpg knows nothing yet in this session."""
        known = KNOWN_TYPES.of(typeoids)
        if known is not None:
            return known
        told, statement = await super()._introspect_types(typeoids, timeout)
        KNOWN_TYPES.keep(told)
        return told, statement

    execute = _watched("execute")
    executemany = _watched("executemany")
    fetch = _watched("fetch")
    fetchval = _watched("fetchval")
    fetchrow = _watched("fetchrow")
    copy_records_to_table = _watched("copy_records_to_table")


class Session:
    """A connection in the hands of who acquired it. One that was cut off is gone, and each use of it says so: asyncpg
    says it of its own methods alone.
    """

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self.held, name)
        except AttributeError:
            self.held.is_closed()  # raises `InterfaceError` when it was cut off
            raise

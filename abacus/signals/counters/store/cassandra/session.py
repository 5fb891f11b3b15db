"""The driver's edge: one session with a cluster, and every failure of it as `Unavailable`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

from abacus.core.errors import Refused, Unavailable

DEPENDENCY: Final = "cassandra"

_CONNECT_S: Final = 5.0
_ANSWER_S: Final = 5.0
_CHANGED_S: Final = 60.0  # for a change of the schema, which every node takes over: busy nodes need long for it
_RECONNECT_MS: Final = (250, 5_000)
_AT_ONCE: Final = 64  # requests of one call that are under way

Values: TypeAlias = Sequence[object]
_One = TypeVar("_One")


class Address(NamedTuple):
    """Where a cluster is, and who asks it."""

    hosts: Sequence[str]
    port: int
    datacenter: str | None = None
    user: str | None = None
    password: str | None = None


class Session:
    """Requests at LOCAL_QUORUM: what one of them wrote, every later one reads. It connects at the first request, and
    again by itself after a failure.

    One is enough for a process: the driver keeps a few sockets of each until the process ends.
    """

    def __init__(self, address: Address) -> None:
        """In a running loop. Raises `Refused` when the driver is not installed."""
        try:
            import acsylla  # noqa: PLC0415  # an extra that only this store needs
        except ImportError:
            raise Refused("counters in Cassandra need its driver: install abacus[cassandra]") from None
        shortest, longest = _RECONNECT_MS
        self._driver: Any = acsylla  # it has no types
        self._cluster: Any = acsylla.create_cluster(
            list(address.hosts),
            port=address.port,
            username=address.user,
            password=address.password,
            connect_timeout=_CONNECT_S,
            request_timeout=_ANSWER_S,
            log_level="critical",  # what matters is raised
            consistency=acsylla.Consistency.LOCAL_QUORUM,
            exponential_reconnect_base_delay_ms=shortest,
            exponential_reconnect_max_delay_ms=longest,
            load_balance_dc_aware=address.datacenter,
            application_name="abacus",
            monitor_reporting_interval_sec=0,
        )
        self._opened: Any = None
        self._opening = asyncio.Lock()
        self._prepared: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def run(self, statement: str) -> None:
        """A statement that is not asked again, such as a change of the schema."""
        session = await self._connected()
        with self._passing():
            await session.execute(self._driver.create_statement(statement, timeout=_CHANGED_S))

    async def fetch(self, statement: str, values: Values) -> list[tuple[Any, ...]]:
        session = await self._connected()
        bound = (await self._preparing(statement)).bind()
        bound.bind_list(list(values))
        with self._passing():
            return [row.as_tuple() for row in await session.execute(bound)]

    async def write(self, statement: str, rows: Sequence[Values]) -> None:
        """The statement with each of these values. The rows have to be of one partition: then each replica takes them
        all in one mutation.
        """
        session, prepared = await self._connected(), await self._preparing(statement)
        batch = self._driver.create_batch_unlogged()
        for values in rows:
            bound = prepared.bind()
            bound.bind_list(list(values))
            batch.add_statement(bound)
        with self._passing():
            await session.execute_batch(batch)

    async def each(self, act: Callable[[_One], Awaitable[None]], items: Sequence[_One]) -> None:
        """Acts on each of the items, on a bounded number at once. After a failure no more are begun; those under way
        end first, and then the failure is raised.
        """
        rest = iter(items)
        failures: list[Exception] = []

        async def work() -> None:
            for item in rest:
                if failures:
                    return
                try:
                    await act(item)
                except Exception as error:  # noqa: BLE001  # raised below
                    failures.append(error)

        await asyncio.gather(*(work() for _ in range(min(_AT_ONCE, len(items)))))
        if failures:
            raise failures[0]

    async def _connected(self) -> Any:
        if self._opened is None:
            async with self._opening:
                if self._opened is None:
                    with self._passing():
                        self._opened = await self._cluster.create_session()
        return self._opened

    async def _preparing(self, statement: str) -> Any:
        if statement not in self._prepared:
            with self._passing():
                self._prepared[statement] = await self._opened.create_prepared(statement)
        return self._prepared[statement]

    @contextmanager
    def _passing(self) -> Iterator[None]:
        """Every error of the cluster passes: the statements are ours, so none is about the data."""
        errors = self._driver.errors
        try:
            yield
        except errors.CassException as error:
            # The statements are ours, so an invalid one is of a keyspace or a table that is not as this version has it.
            is_behind = isinstance(error, errors.CassErrorServerInvalidQuery)
            remedy = "; run `abacus counters store init`" if is_behind else ""
            raise Unavailable(DEPENDENCY, " ".join(str(error).split()) + remedy) from error

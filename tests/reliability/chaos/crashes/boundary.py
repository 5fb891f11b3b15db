"""The boundary of a worker's process: drivers of database, queues, broker and HTTP pass a point on each side of a call.

Between two of them a worker only computes, and no other process can tell where it died.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final
from weakref import WeakKeyDictionary

import aiohttp
import asyncpg
import httpx
from aiobotocore.client import AioBaseClient
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from tests.reliability.chaos.crashes.crossing import Side, point, queue_call, statement, writes_of
from tests.reliability.chaos.crashes.visits import passed

Call = Callable[..., Awaitable[Any]]

_STATEMENTS: Final = ("execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany")
_STREAM: Final = {
    AIOKafkaConsumer: {
        "start": "join",
        "stop": "leave",
        "getmany": "read",
        "commit": "commit offsets",
        "topics": "ask for topics",
        "beginning_offsets": "ask for offsets",
        "end_offsets": "ask for offsets",
    },
    AIOKafkaProducer: {"start": "open", "stop": "close", "send_batch": "publish"},
}

_OF_QUEUES: Final = "x-amz-date"  # a header
_written: WeakKeyDictionary[asyncpg.Connection, list[str]] = WeakKeyDictionary()  # in the transaction that is open


def watch() -> None:
    """From now on each driver passes points."""
    for name in _STATEMENTS:
        _mark(asyncpg.Connection, name, _of_statement)
    _mark(asyncpg.Connection, "copy_records_to_table", _of_copy)
    _mark(AioBaseClient, "_make_api_call", lambda _, operation, asked: queue_call(operation, asked))
    for client, calls in _STREAM.items():
        for name, called in calls.items():
            _mark(client, name, lambda *_, called=called, **__: f"stream: {called}")
    _mark(httpx.AsyncClient, "send", lambda _, request, **__: f"http: {request.method.lower()}")
    _mark(aiohttp.ClientSession, "_request", _of_request)


def _mark(driver: type, name: str, crossing: Callable[..., str | None]) -> None:
    call: Call = getattr(driver, name)

    @wraps(call)
    async def marked(*arguments: Any, **named: Any) -> Any:
        crossed = crossing(*arguments, **named)
        if crossed is None:
            return await call(*arguments, **named)
        passed(point(crossed, Side.BEFORE))
        answer = await call(*arguments, **named)
        passed(point(crossed, Side.AFTER))
        return answer

    setattr(driver, name, marked)


def _of_request(_: aiohttp.ClientSession, method: str, *__: Any, headers: Any = None, **___: Any) -> str | None:
    """Not of a queue's call, which goes by the same driver and has its own points."""
    return None if _OF_QUEUES in {name.lower() for name in headers or ()} else f"http: {method.lower()}"


def _of_statement(connection: asyncpg.Connection, sql: str, *_: Any, **__: Any) -> str:
    written = _written.setdefault(connection, [])
    crossed = statement(sql, written)
    if connection.is_in_transaction():
        written += writes_of(sql)
    else:
        written.clear()
    return crossed


def _of_copy(connection: asyncpg.Connection, table: str, **_: Any) -> str:
    write = f"insert {table}"
    _written.setdefault(connection, []).append(write)
    return f"database: {write}"

"""Places for whole files: a folder, or `s3://BUCKET/PREFIX`. A file is there wholly or not at all.

Of S3 the usual settings of AWS hold, `AWS_ENDPOINT_URL_S3` among them.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final, NamedTuple, ParamSpec, Protocol, TypeVar

from abacus.core.errors import Refused, Unavailable

MOST_BYTES: Final = 512 * 1024 * 1024
_S3: Final = "s3://"
WITHIN_S: Final = 30.0
_CHUNK_BYTES: Final = 1024 * 1024
_SLOWEST: Final = 1_000_000  # bytes in a second, of a file that is written
_DEPENDENCY: Final = "files"

Given = ParamSpec("Given")
Found = TypeVar("Found")


class ObjectPlace(Protocol):
    """Every method raises `Unavailable` while the place cannot be reached, and may be called again. A place that does
    not go on in time cannot be reached.
    """

    async def put(self, name: str, content: bytes) -> None:
        """A file of this name that is there is replaced."""
        ...

    async def get(self, name: str) -> bytes | None:
        """None where there is no such file. Raises `Refused` for a file that is too long."""
        ...

    async def names(self) -> list[str]:
        """Of all files, sorted."""
        ...


def checked_place(text: str) -> str:
    """A folder's path, or `s3://BUCKET/PREFIX`. Raises `Refused`."""
    if text.startswith(_S3):
        bucket, _, _ = text.removeprefix(_S3).partition("/")
        if not bucket:
            raise Refused(f"{text!r} names no bucket: s3://BUCKET/PREFIX")
    elif not Path(text).is_absolute():
        raise Refused(f"{text!r} is no whole path of a folder, and no s3://BUCKET/PREFIX")
    return text


@asynccontextmanager
async def open_place(text: str, *, within_s: float = WITHIN_S) -> AsyncIterator[ObjectPlace]:
    """A call of a folder ends `within_s`. A bucket answers `within_s`, and each page of names and each chunk of a file
    comes so; a file that is written has a second more for each million bytes. Raises `Refused` for what is no place.
    """
    checked_place(text)
    if not text.startswith(_S3):
        yield Folder(Path(text), within_s=within_s)
        return
    import aioboto3  # noqa: PLC0415  # a second of start-up that a process without S3 does not need
    from botocore.config import Config  # noqa: PLC0415  # as above

    bucket, _, prefix = text.removeprefix(_S3).partition("/")
    config = Config(connect_timeout=within_s, read_timeout=within_s, retries={"mode": "standard"})
    async with aioboto3.Session().client("s3", config=config) as client:
        yield _Bucket(client, bucket, f"{prefix.rstrip('/')}/" if prefix else "", within_s)


class _Turn(NamedTuple):
    """What is done in a folder now, and since when."""

    begun: float
    over: Future[None]


_TURNS: Final[dict[Path, _Turn]] = {}  # the last one of each folder, whoever opened it


class Folder:
    """A file is written beside its place, and moved there once it is on the disk.

    A folder of another machine may hang, and a thread in it with it. So each folder has one thread at a time, which is
    not of those that all share, and does not keep the process from its end.
    """

    def __init__(self, folder: Path, *, within_s: float = WITHIN_S) -> None:
        self._folder = folder
        self._within_s = within_s

    async def put(self, name: str, content: bytes) -> None:
        await self._do(self._put, name, content)

    async def get(self, name: str) -> bytes | None:
        return await self._do(self._get, name)

    async def names(self) -> list[str]:
        return await self._do(self._names)

    async def _do(self, work: Callable[Given, Found], *args: Given.args, **named: Given.kwargs) -> Found:
        limit = asyncio.timeout(self._within_s)
        try:
            async with limit:
                return await self._in_turn(partial(work, *args, **named))
        except OSError as error:
            if limit.expired():
                raise self._silent() from None
            raise Unavailable(_DEPENDENCY, f"{self._folder}: {error.strerror or error}") from error

    async def _in_turn(self, work: Callable[[], Found]) -> Found:
        while (turn := _TURNS.get(self._folder)) is not None and not turn.over.done():
            if time.monotonic() - turn.begun >= self._within_s:
                raise self._silent()
            await asyncio.wrap_future(turn.over)
        found: Future[Found] = Future()
        over: Future[None] = Future()
        for each in (found, over):
            each.set_running_or_notify_cancel()  # from now on none ends because somebody waits no longer
        _TURNS[self._folder] = _Turn(time.monotonic(), over)
        Thread(target=_do, args=(work, found, over), name=f"in {self._folder}", daemon=True).start()
        return await asyncio.wrap_future(found)

    def _silent(self) -> Unavailable:
        return Unavailable(_DEPENDENCY, f"{self._folder}: no answer within {self._within_s:g} s")

    def _put(self, name: str, content: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        beside = self._folder / f".{_plain(name)}.{os.getpid()}"
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._folder / name)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _get(self, name: str) -> bytes | None:
        path = self._folder / _plain(name)
        if not path.is_file():
            return None
        _check_length(name, path.stat().st_size)
        return path.read_bytes()

    def _names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(each.name for each in self._folder.iterdir() if each.is_file() and not each.name.startswith("."))


def _do(work: Callable[[], Found], found: Future[Found], over: Future[None]) -> None:
    try:
        found.set_result(work())
    except BaseException as error:  # noqa: BLE001  # whatever it is, who waits for it is told
        found.set_exception(error)
    finally:
        over.set_result(None)


class _Bucket:
    """Objects below a prefix; deeper ones are not seen."""

    def __init__(self, client: Any, bucket: str, prefix: str, within_s: float) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._within_s = within_s

    async def put(self, name: str, content: bytes) -> None:
        async with self._reaching(self._within_s + len(content) // _SLOWEST):
            await self._client.put_object(Bucket=self._bucket, Key=self._prefix + _plain(name), Body=content)

    async def get(self, name: str) -> bytes | None:
        async with self._reaching(self._within_s):
            try:
                found = await self._client.get_object(Bucket=self._bucket, Key=self._prefix + _plain(name))
            except self._client.exceptions.NoSuchKey:
                return None
        content, body = bytearray(), found["Body"]
        async with body:
            _check_length(name, found["ContentLength"])
            is_over = False
            while not is_over:
                async with self._reaching(self._within_s):
                    is_over = await _read_chunk(body, content)
        return bytes(content)

    async def names(self) -> list[str]:
        names: list[str] = []
        paginator = self._client.get_paginator("list_objects_v2")
        pages = aiter(paginator.paginate(Bucket=self._bucket, Prefix=self._prefix, Delimiter="/"))
        while True:
            async with self._reaching(self._within_s):
                page = await anext(pages, None)
            if page is None:
                return sorted(names)
            names += [each["Key"].removeprefix(self._prefix) for each in page.get("Contents", ())]

    @asynccontextmanager
    async def _reaching(self, within_s: float) -> AsyncIterator[None]:
        from aiohttp import ClientPayloadError  # noqa: PLC0415  # as above
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # as above

        limit = asyncio.timeout(within_s)
        try:
            async with limit:
                yield
        except (BotoCoreError, ClientError, ClientPayloadError, OSError) as error:
            why = f"no answer within {within_s:g} s" if limit.expired() else error
            raise Unavailable(_DEPENDENCY, f"s3://{self._bucket}/{self._prefix}: {why}") from error


async def _read_chunk(body: Any, content: bytearray) -> bool:
    """Reads a whole chunk, or all that is left. True at the end of the body."""
    until = len(content) + _CHUNK_BYTES
    while len(content) < until:
        if not (part := await body.read(until - len(content))):
            return True
        content += part
    return False


def _plain(name: str) -> str:
    """Raises `Refused` for a name that leads elsewhere."""
    if not name or "/" in name or name.startswith("."):
        raise Refused(f"{name!r} is no name of a file")
    return name


def _check_length(name: str, length: int) -> None:
    if length > MOST_BYTES:
        raise Refused(f"{name}: {length:,} bytes are more than {MOST_BYTES:,}")

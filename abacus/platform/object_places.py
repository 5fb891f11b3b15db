"""Places for whole files: a folder, or `s3://BUCKET/PREFIX`. A file is there wholly or not at all.

Of S3 the usual settings of AWS hold, `AWS_ENDPOINT_URL_S3` among them.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from abacus.core.errors import Refused, Unavailable

MOST_BYTES: Final = 512 * 1024 * 1024
_S3: Final = "s3://"
_WITHIN_S: Final = 30
_DEPENDENCY: Final = "files"

Given = ParamSpec("Given")
Found = TypeVar("Found")


class ObjectPlace(Protocol):
    """Every method raises `Unavailable` while the place cannot be reached, and may be called again."""

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
async def open_place(text: str) -> AsyncIterator[ObjectPlace]:
    """Raises `Refused` for what is no place."""
    checked_place(text)
    if not text.startswith(_S3):
        yield Folder(Path(text))
        return
    import aioboto3  # noqa: PLC0415  # a second of start-up that a process without S3 does not need
    from botocore.config import Config  # noqa: PLC0415  # as above

    bucket, _, prefix = text.removeprefix(_S3).partition("/")
    config = Config(connect_timeout=_WITHIN_S, read_timeout=_WITHIN_S, retries={"mode": "standard"})
    async with aioboto3.Session().client("s3", config=config) as client:
        yield _Bucket(client, bucket, f"{prefix.rstrip('/')}/" if prefix else "")


class Folder:
    """A file is written beside its place, and moved there once it is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, name: str, content: bytes) -> None:
        await self._do(self._put, name, content)

    async def get(self, name: str) -> bytes | None:
        return await self._do(self._get, name)

    async def names(self) -> list[str]:
        return await self._do(self._names)

    async def _do(self, work: Callable[Given, Found], *args: Given.args, **named: Given.kwargs) -> Found:
        try:
            return await asyncio.to_thread(work, *args, **named)
        except OSError as error:
            raise Unavailable(_DEPENDENCY, f"{self._folder}: {error.strerror or error}") from error

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


class _Bucket:
    """Objects below a prefix; deeper ones are not seen."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix

    async def put(self, name: str, content: bytes) -> None:
        async with self._reaching():
            await self._client.put_object(Bucket=self._bucket, Key=self._prefix + _plain(name), Body=content)

    async def get(self, name: str) -> bytes | None:
        async with self._reaching():
            try:
                found = await self._client.get_object(Bucket=self._bucket, Key=self._prefix + _plain(name))
            except self._client.exceptions.NoSuchKey:
                return None
            _check_length(name, found["ContentLength"])
            async with found["Body"] as body:
                content: bytes = await body.read()
                return content

    async def names(self) -> list[str]:
        names: list[str] = []
        async with self._reaching():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix, Delimiter="/"
            )
            async for page in pages:
                names += [each["Key"].removeprefix(self._prefix) for each in page.get("Contents", ())]
        return sorted(names)

    @asynccontextmanager
    async def _reaching(self) -> AsyncIterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # as above

        try:
            yield
        except (BotoCoreError, ClientError, OSError) as error:
            raise Unavailable(_DEPENDENCY, f"s3://{self._bucket}/{self._prefix}: {error}") from error


def _plain(name: str) -> str:
    """Raises `Refused` for a name that leads elsewhere."""
    if not name or "/" in name or name.startswith("."):
        raise Refused(f"{name!r} is no name of a file")
    return name


def _check_length(name: str, length: int) -> None:
    if length > MOST_BYTES:
        raise Refused(f"{name}: {length:,} bytes are more than {MOST_BYTES:,}")

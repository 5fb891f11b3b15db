"""Folders and buckets: the same promises."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

import pytest
from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.serving import make_server

from abacus.core.errors import Refused, Unavailable
from abacus.platform.object_places import ObjectPlace, checked_place, open_place

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "eu-west-1"}


@pytest.fixture(params=["folder", "bucket"])
async def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ObjectPlace]:
    if request.param == "folder":
        async with open_place(str(tmp_path / "out")) as folder:
            yield folder
        return
    server = make_server("127.0.0.1", 0, create_backend_app("s3"), threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{server.server_port}"}.items():
        monkeypatch.setenv(name, value)
    import aioboto3  # noqa: PLC0415  # as the product does

    async with aioboto3.Session().client("s3") as client:
        bucket_name = f"files-{server.server_port}"
        await client.create_bucket(Bucket=bucket_name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    async with open_place(f"s3://{bucket_name}/to/skyline/") as bucket:
        yield bucket
    server.shutdown()


async def test_files_come_back_as_they_were_put(place: ObjectPlace) -> None:
    assert await place.names() == []
    assert await place.get("b.csv") is None
    await place.put("b.csv", b"1")
    await place.put("a.csv", b"")
    await place.put("b.csv", b"2\r\n")
    assert await place.names() == ["a.csv", "b.csv"]
    assert (await place.get("a.csv"), await place.get("b.csv")) == (b"", b"2\r\n")


async def test_no_name_leads_elsewhere(place: ObjectPlace) -> None:
    for name in ("", "../x", "a/b", ".hidden"):
        with pytest.raises(Refused):
            await place.put(name, b"")
        with pytest.raises(Refused):
            await place.get(name)


async def test_a_file_that_is_being_written_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / f".a.csv.{os.getpid()}").write_bytes(b"half")
    async with open_place(str(tmp_path)) as place:
        assert await place.names() == []


async def test_a_place_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    async with open_place(str(tmp_path / "file" / "out")) as place:
        with pytest.raises(Unavailable, match="Not a directory"):
            await place.put("a.csv", b"")
    for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    async with open_place("s3://files") as place:
        with pytest.raises(Unavailable, match="s3://files/"):
            await place.names()


async def test_a_folder_that_hangs_is_away_and_costs_one_thread(tmp_path: Path) -> None:
    pipe = tmp_path / f".a.csv.{os.getpid()}"
    os.mkfifo(pipe)  # to open it for writing hangs until somebody reads
    async with open_place(str(tmp_path), within_s=0.5) as place, open_place(str(tmp_path / "b")) as other:
        with pytest.raises(Unavailable, match=f"{tmp_path}: no answer within 0.5 s"):
            await place.put("a.csv", b"1")
        begun = time.monotonic()
        for _ in range(20):
            with pytest.raises(Unavailable, match="no answer within"):
                await place.names()
        assert time.monotonic() - begun < 0.5
        [hung] = [each for each in threading.enumerate() if each.name == f"in {tmp_path}"]
        await other.put("a.csv", b"1")
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # it answers again
        await asyncio.to_thread(hung.join)
        pipe.unlink()
        await place.put("a.csv", b"2")
        assert await place.get("a.csv") == b"2"


async def test_a_folder_is_asked_by_several_at_once(tmp_path: Path) -> None:
    async with open_place(str(tmp_path)) as one, open_place(str(tmp_path)) as two:
        await asyncio.gather(*(place.put(f"{n}.csv", b"1") for n in range(10) for place in (one, two)))
        assert [*await asyncio.gather(one.get("9.csv"), two.get("10.csv"))] == [b"1", None]
        assert len(await two.names()) == 10


async def test_a_bucket_that_hangs_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{silent.getsockname()[1]}"}.items():
            monkeypatch.setenv(name, value)
        begun = time.monotonic()
        async with open_place("s3://files", within_s=0.3) as place:
            with pytest.raises(Unavailable, match=r"s3://files/: no answer within 0.3 s"):
                await place.put("a.csv", b"1")
        assert time.monotonic() - begun < 5


Answer = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def bucket_that(
    answers: Answer, monkeypatch: pytest.MonkeyPatch, *, within_s: float
) -> AsyncIterator[ObjectPlace]:
    """A bucket of a server that answers each request, whose head it is given, like this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answers((await reader.readuntil(b"\r\n\r\n")).decode(), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": address, "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    async with open_place("s3://files", within_s=within_s) as place:
        yield place
    server.close()


async def _send(writer: asyncio.StreamWriter, body: bytes, length: int | None = None) -> None:
    head = f"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {len(body) if length is None else length}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def test_a_long_file_of_a_slow_bucket_is_read_as_long_as_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    part, parts = b"x" * 1024 * 1024, 6

    async def answers(_: str, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"", len(part) * parts)
        for _n in range(parts):
            await asyncio.sleep(0.25)
            writer.write(part)
            await writer.drain()

    async with bucket_that(answers, monkeypatch, within_s=1) as place:
        begun = time.monotonic()
        content = await place.get("a.csv")
        assert (content == part * parts, time.monotonic() - begun > 1) == (True, True)


@pytest.mark.parametrize("how", ["hangs", "drips", "cuts"])
async def test_a_bucket_that_does_not_go_on_with_a_file_is_away(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers(_: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"x" * 2_000_000, 3_000_000)
        while how == "drips":
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)
        if how == "hangs":
            await reader.read()

    async with bucket_that(answers, monkeypatch, within_s=0.5) as place:
        begun = time.monotonic()
        with pytest.raises(Unavailable, match="s3://files/"):
            await place.get("a.csv")
        assert time.monotonic() - begun < 5


async def test_names_come_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = 6

    async def answers(head: str, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        n = int(head.partition("continuation-token=")[2][:1] or "0")
        await asyncio.sleep(0.25)
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{n + 1}</NextContinuationToken>"
        file = f"<Contents><Key>{n}.csv</Key></Contents>{more if n < pages - 1 else ''}"
        await _send(writer, f"<ListBucketResult>{file}</ListBucketResult>".encode())

    async with bucket_that(answers, monkeypatch, within_s=1) as place:
        begun = time.monotonic()
        assert await place.names() == [f"{n}.csv" for n in range(pages)]
        assert time.monotonic() - begun > 1


async def test_a_long_file_is_written_as_long_as_its_size_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers(_: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await reader.read(1024)
        await _send(writer, b"")

    async with bucket_that(answers, monkeypatch, within_s=0.5) as place:
        await place.put("a.csv", b"x" * 5_000_000)
        with pytest.raises(Unavailable, match=r"no answer within 0\.5 s"):
            await place.put("a.csv", b"x")


@pytest.mark.parametrize("text", ["out", "", "s3://", "s3:///x"])
def test_no_place(text: str) -> None:
    with pytest.raises(Refused):
        checked_place(text)

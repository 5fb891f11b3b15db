"""Folders and buckets: the same promises."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator
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
    async with open_place(str(tmp_path), within_s=0.1) as place, open_place(str(tmp_path / "b")) as other:
        with pytest.raises(Unavailable, match=f"{tmp_path}: no answer within 0.1 s"):
            await place.put("a.csv", b"1")
        begun = time.monotonic()
        for _ in range(20):
            with pytest.raises(Unavailable, match="no answer within"):
                await place.names()
        assert time.monotonic() - begun < 0.1
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


@pytest.mark.parametrize("text", ["out", "", "s3://", "s3:///x"])
def test_no_place(text: str) -> None:
    with pytest.raises(Refused):
        checked_place(text)

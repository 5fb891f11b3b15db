"""The configuration of nginx that the documents give: it keeps answers under what the application says they mean."""

import asyncio
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from abacus.api.cache_headers import Caching, Told, meant, told
from abacus.api.front import Front
from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from tests.support.paths import DOCS
from tests.support.ports import free_port

pytestmark = [pytest.mark.long, pytest.mark.once]

CONF: Final = DOCS / "operate" / "nginx" / "abacus.conf"
BORDERS: Final = (1.0, 2.5)
WHERE: Final = Caching(fresh_s=60, stale_s=60, is_public=True)
AT: Final = "/v1/regions/at"


class Regions:
    """An application that tells the region of a latitude. As ours, it takes the last of two of one name."""

    def __init__(self) -> None:
        self.version = 1
        self.asked: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # as ASGI has it
        self.asked[scope["method"]] += 1
        answer = self._answer(scope)
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body})

    def _answer(self, scope: Scope) -> Told:
        headers, query = dict(scope["headers"]), dict(parse_qsl(scope["query_string"].decode()))
        if headers.get(b"authorization") != b"Bearer good":
            return Told(401, [], b'{"type": "unauthorized"}')
        latitude = float(query["lat"])
        if not -90 <= latitude <= 90:
            return Told(422, [], b'{"type": "invalid"}')
        region = bisect_right(BORDERS, latitude)
        body = f'{{"region": {region}, "version": {self.version}}}'.encode()
        return (meant if scope["method"] == "HEAD" else told)(scope, body, WHERE)


class Fronted:
    """nginx in front of the application."""

    def __init__(self, client: httpx.AsyncClient, regions: Regions) -> None:
        self._client = client
        self.regions = regions

    async def ask(self, query: str, path: str = AT, key: str = "good", **headers: str) -> httpx.Response:
        return await self._client.get(f"{path}?{query}", headers={"authorization": f"Bearer {key}", **headers})

    async def told(self, query: str) -> tuple[int, str]:
        """The region, and whether nginx had it."""
        answer = await self.ask(query)
        return answer.json()["region"], answer.headers["x-cache"]


@pytest.fixture
async def fronted(tmp_path: Path) -> AsyncIterator[Fronted]:
    regions, stop = Regions(), asyncio.Event()
    listener = bound("127.0.0.1", 0, "the test")
    serving = asyncio.create_task(serve(Front(regions), listener, stop, HttpLimits()))
    try:
        async with (
            _nginx(tmp_path, listener.getsockname()[1]) as url,
            httpx.AsyncClient(base_url=url, trust_env=False) as client,
        ):
            yield Fronted(client, regions)
    finally:
        stop.set()
        await serving


@asynccontextmanager
async def _nginx(folder: Path, behind: int) -> AsyncIterator[str]:
    """Skips the test where there is none."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    server = CONF.read_text("utf-8")
    for given, here in (
        ("/var/cache/nginx/abacus", str(folder / "cache")),
        ("127.0.0.1:8085", f"127.0.0.1:{behind}"),
        ("127.0.0.1:8080", f"127.0.0.1:{port}"),
    ):
        assert given in server
        server = server.replace(given, here)
    paths = "".join(
        f"{each}_temp_path {folder}/{each};\n" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = folder / "nginx.conf"
    whole.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{paths}{server}}}\n",
        encoding="utf-8",
    )
    process = await asyncio.create_subprocess_exec(
        program, "-p", str(folder), "-c", str(whole), "-e", str(folder / "errors")
    )
    try:
        async with asyncio.timeout(20):
            while not await _listens(port):  # it is another process
                assert process.returncode is None, (folder / "errors").read_text("utf-8")
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_answers_are_kept_under_what_the_application_says(fronted: Fronted) -> None:
    """Points of one region are one entry; two `lat` mean what they mean to the application; borders are exact."""
    asked = fronted.regions.asked
    assert await fronted.told("lat=2.49999999999999") == (1, "MISS")
    assert await fronted.told("lon=7&lat=1.00000000000000&utm=x") == (1, "HIT")
    assert await fronted.told("lat=2.5") == (2, "MISS")
    assert await fronted.told("lat=2.5&lat=0.5") == (0, "MISS")  # a key of the first `lat` would have kept it for 2.5
    assert await fronted.told("lat=2.5") == (2, "HIT")
    assert (asked["GET"], asked["HEAD"]) == (3, 5)

    # A change is seen at once, though what was kept is fresh for a minute.
    fronted.regions.version = 2
    answer = await fronted.ask("lat=2.5")
    assert (answer.json(), answer.headers["x-cache"]) == ({"region": 2, "version": 2}, "MISS")
    again = await fronted.ask("lat=2.6", **{"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["x-cache"]) == (304, b"", "HIT")


async def test_what_has_no_meaning_is_passed_on_and_kept_by_nobody(fronted: Fronted) -> None:
    asked = fronted.regions.asked
    await fronted.told("lat=2.5")
    for query, key, status in (("lat=91", "good", 422), ("lat=2.5", "bad", 401)):
        for _ in range(2):
            before = asked["GET"]
            answer = await fronted.ask(query, key=key)
            assert (answer.status_code, "type" in answer.json()) == (status, True)
            assert (answer.headers["cache-control"], asked["GET"]) == ("no-store", before + 1)
    for path, query in ((AT, "lat=2.5&member_id=bob"), ("/v1/members/bob/nearby", "lat=2.5")):
        for _ in range(2):
            before = asked["GET"]
            answer = await fronted.ask(query, path)
            assert answer.headers["cache-control"].startswith("private")
            assert asked["GET"] == before + 1

"""What all workers of a house log while Postgres is away: a line for each thing that is away, and no traceback."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

_AWAY_S: Final = 12.0
_BACK_S: Final = 6.0


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "is_silent", [pytest.param(False, id="stopped", marks=pytest.mark.night), pytest.param(True, id="silent")]
)
async def test_a_line_for_each_thing_that_is_away(*, is_silent: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="abacus-outage-") as data_dir:
        log = Path(data_dir) / "log"
        with log.open("wb") as written:
            house = await _up(data_dir, written.fileno())
            try:
                before = log.stat().st_size
                await _outage(Path(data_dir), is_silent=is_silent)
                house.send_signal(signal.SIGTERM)
                await asyncio.wait_for(house.wait(), 45)
            finally:
                if house.returncode is None:
                    house.kill()
                    await house.wait()
        lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_bytes()[before:].splitlines()]
    assert [line for line in lines if "exception" in line] == []
    of_outages = Counter((line["level"], line["dependency"]) for line in lines if "dependency" in line)
    assert ("warning", "database") in of_outages
    assert [which for which, count in of_outages.items() if count > 1] == []
    assert len(lines) - of_outages.total() <= 3


async def _up(data_dir: str, log: int) -> asyncio.subprocess.Process:
    """Returns when it is ready."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
    serving = ("API", "COUNTS", "OFFERS", "PLACES", "CONSOLE")
    ports = dict.fromkeys((f"ABACUS_{each}_PORT" for each in serving), "0")
    house = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "up", "--json", "--data-dir", data_dir),
        env={**clean, **ports, "ABACUS_LOG_FORMAT": "json"},
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
    )
    assert house.stdout is not None
    assert "api" in json.loads(await asyncio.wait_for(house.stdout.readline(), 120))
    return house


async def _outage(data_dir: Path, *, is_silent: bool) -> None:
    pid = int((data_dir / "postgres" / "cluster" / "postmaster.pid").read_text().split()[0])
    server = psutil.Process(pid)
    if not is_silent:
        server.send_signal(signal.SIGINT)
        await asyncio.sleep(_AWAY_S)
        return
    processes = [server, *server.children()]
    for each in processes:
        each.suspend()
    await asyncio.sleep(_AWAY_S)
    for each in processes:
        each.resume()
    await asyncio.sleep(_BACK_S)

"""A child of the nursery is the program: its output, its end, and its clock."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from abacus.core.clock import SystemClock
from localstack.running import Services, addresses
from tests.support.births import opened_nursery
from tests.support.moved_clock import moved, set_to


@pytest.mark.long
async def test_a_child_runs_a_command_and_its_code_is_told(tmp_path: Path) -> None:
    out, log = tmp_path / "out", tmp_path / "log"
    async with opened_nursery() as nursery:
        good = await nursery.born(["--version"], dict(os.environ), log=log, out=out)
        assert await good.ended == 0
        assert out.read_text().strip()
        bad = await nursery.born(["worker", "nobody"], {"PATH": os.environ["PATH"]}, log=log)
        assert await bad.ended == 1
        assert "there is no worker 'nobody'" in log.read_text()


def test_a_wrong_clock_goes_by_its_file(tmp_path: Path) -> None:
    by = tmp_path / "clock"
    right = datetime(2026, 11, 20, tzinfo=UTC)
    now = moved(lambda _: right, by)
    for moment in (right + timedelta(days=10), right - timedelta(hours=1)):
        set_to(by, moment, right)
        assert now(SystemClock()) == moment


def test_the_addresses_are_those_that_the_services_wrote() -> None:
    told = (
        "export ABACUS_DATABASE_URL=postgresql://p@h:1/abacus ABACUS_SQS_ENDPOINT_URL=http://h:2 "
        "ABACUS_KAFKA_BOOTSTRAP=h:3\nexport ABACUS_TEST_KAFKA_BOOTSTRAP=h:4\n"
    )
    assert addresses(told) == Services("postgresql://p@h:1/abacus", "http://h:2", "h:3")
    assert addresses(told).database("other") == "postgresql://p@h:1/other"

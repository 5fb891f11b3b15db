"""`abacus up` says what it cannot have before it starts anything."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import pytest

from abacus.cli.house.environment_file import environment, written
from abacus.cli.house.free_ports import on_free_ports
from abacus.core.errors import Refused
from abacus.platform.settings import Settings

pytestmark = pytest.mark.once

SERVICES = {
    "ABACUS_DATABASE_URL": "postgresql://postgres@127.0.0.1:1/abacus",
    "ABACUS_SQS_ENDPOINT_URL": "http://127.0.0.1:1",
    "ABACUS_KAFKA_BOOTSTRAP": "127.0.0.1:1",
}


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


def refused(command: str, *words: str, **more: str) -> str:
    """The one line with which a command refuses to start."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")}
    ran = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "abacus", command, *words],
        env={**clean, **more},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    return line


@pytest.mark.long
@pytest.mark.parametrize(
    "setting",
    [
        "ABACUS_API_PORT",
        "ABACUS_COUNTS_PORT",
        "ABACUS_OFFERS_PORT",
        "ABACUS_PLACES_PORT",
        "ABACUS_CONSOLE_PORT",
        "ABACUS_HEALTH_PORT",
    ],
)
def test_a_chosen_port_that_is_taken_is_told_first(setting: str, taken: int, tmp_path: Path) -> None:
    line = refused("up", "--data-dir", str(tmp_path / "house"), **{setting: str(taken)})
    assert line == (
        f"abacus: {setting}: cannot listen on 127.0.0.1:{taken}: Address already in use; "
        f"choose another {setting}, or leave it out for a free port"
    )
    assert not (tmp_path / "house").exists()


@pytest.mark.long
def test_so_it_is_with_the_demo_that_stays(taken: int) -> None:
    line = refused("demo", "--console", ABACUS_CONSOLE_PORT=str(taken))
    assert line.startswith("abacus: ABACUS_CONSOLE_PORT: cannot listen on")


@pytest.mark.long
def test_one_port_for_two_is_told_first(taken: int, tmp_path: Path) -> None:
    free = _free()
    line = refused("up", "--data-dir", str(tmp_path), ABACUS_API_PORT=str(free), ABACUS_COUNTS_PORT=str(free))
    assert "cannot listen on" in line


@pytest.mark.long
def test_a_host_that_is_not_of_this_machine_is_told_first(tmp_path: Path) -> None:
    assert refused("up", "--data-dir", str(tmp_path), ABACUS_API_HOST="203.0.113.1", ABACUS_API_PORT="0") == (
        "abacus: ABACUS_API_HOST: '203.0.113.1' is no address of this machine"
    )


@pytest.mark.long
@pytest.mark.parametrize("services", [{}, SERVICES], ids=["embedded", "of one's own"])
@pytest.mark.parametrize(
    ("data_dir", "says"),
    [
        ("file", "--data-dir: {0}/file: File exists; choose another data directory"),
        ("file/under", "--data-dir: {0}/file/under: Not a directory; choose another data directory"),
        ("house", "--data-dir: {0}/house/env is a directory, where a file is to be; choose another data directory"),
    ],
)
def test_a_data_directory_that_cannot_be_used_is_told_first(
    services: dict[str, str], data_dir: str, says: str, tmp_path: Path
) -> None:
    """With services of one's own nothing else is written there, and they may have to be waited for."""
    (tmp_path / "file").touch()
    (tmp_path / "house" / "env").mkdir(parents=True)
    assert refused("up", "--data-dir", str(tmp_path / data_dir), **services) == "abacus: " + says.format(tmp_path)


def test_what_was_bound_stands_in_the_file(taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The console's usual port is another program's: a link that is made in another terminal must not lead there."""
    for name, value in SERVICES.items():
        monkeypatch.setenv(name, value)
    config = on_free_ports(Settings.model_construct(**{**dict(Settings()), "console_port": taken}, _fields_set=set()))
    assert config.console_port != taken
    with written(tmp_path, config, key=None) as file:
        shell = f'. {quote(str(file))} && echo "$ABACUS_API_HOST:$ABACUS_API_PORT $ABACUS_CONSOLE_PORT"'
        told = subprocess.check_output(["bash", "-c", shell], text=True)  # noqa: S603, S607  # our own file
        for name, value in environment(config).items():
            monkeypatch.setenv(name, value)
        read = Settings()
    assert told == f"127.0.0.1:{config.api_port} {config.console_port}\n"
    assert (read.console_port, read.counts_port) == (config.console_port, config.counts_port)
    with pytest.raises(Refused):
        on_free_ports(read.model_copy(update={"console_port": taken}))


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])

"""The compose file names only workers, commands and settings that exist. No engine runs here."""

from typing import Any

import pytest

from abacus.process import STOP_WITHIN_S
from tests.deployment.manifests import parsed_by_the_command_line, read, taken_as_settings
from tests.support.paths import ROOT
from workers import WORKERS

COMPOSE: dict[str, Any] = read(ROOT / "docker-compose.yml")["services"]
OURS = {name: service for name, service in COMPOSE.items() if "build" in service}


def test_every_worker_is_a_service() -> None:
    assert {name for name, service in OURS.items() if service["command"][0] == "worker"} == set(WORKERS)


@pytest.mark.parametrize("name", OURS)
def test_a_service_s_command_and_settings_are_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = OURS[name]
    parsed_by_the_command_line(service["command"])
    values = {key: value for key, value in service["environment"].items() if not value.startswith("${")}
    taken_as_settings(values, monkeypatch)


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_has_time_to_end_and_is_asked_where_it_answers(name: str) -> None:
    service = OURS[name]
    assert int(service["stop_grace_period"].removesuffix("s")) > STOP_WITHIN_S
    port = service["environment"].get("ABACUS_HEALTH_PORT") or service["command"][-1]
    assert f"http://127.0.0.1:{port}/readyz" in service["healthcheck"]["test"][-1]


def test_what_is_mounted_is_there() -> None:
    for service in COMPOSE.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert not source.startswith(".") or (ROOT / source).is_file()

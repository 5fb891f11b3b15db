"""The settings of running processes side by side: for the pure part, the command and the page."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from abacus.oversight.status.decide.settings import Given, settings_in_use
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import ProcessNote, Report, WorkerNote
from abacus.platform.settings import Settings
from tests.console.desk import desk
from tests.support.commands import abacus

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def process(number: int, worker: str, seen_at: datetime = NOW, **settings: str) -> ProcessNote:
    report = Report({worker: WorkerNote("ready", "")}, {}, {}, None, settings)
    return ProcessNote(UUID(int=number), "host", number, "0.1.0", seen_at, seen_at, report.text)


def test_what_differs_comes_first_and_who_was_given_none_has_the_default() -> None:
    found = settings_in_use(
        [
            process(1, "relay", A="1", B="1"),
            process(2, "awarder", A="1", B="2"),
            process(3, "api", A="1"),
            process(4, "gone", NOW - timedelta(minutes=2), C="1"),
        ],
        NOW,
    )
    assert [(each.name, each.differs) for each in found] == [("B", True), ("A", False)]
    assert found[0].given == [
        Given(None, ["api host:3"]),
        Given("1", ["relay host:1"]),
        Given("2", ["awarder host:2"]),
    ]
    assert found[1].given == [Given("1", ["relay host:1", "awarder host:2", "api host:3"])]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("database_url", "postgresql://abacus:hunter2@db/abacus", "(set)"),
        ("token", "abp_hunter2", "(set)"),
        ("counts_redis_url", "redis://:hunter2@cache:6379/0", "(set)"),
        ("notify_webhook_url", "https://hooks.example.com/hunter2", "(set)"),
        ("retry_hours", 5, "5.0"),
        ("kafka_bootstrap", "kafka:9092", "kafka:9092"),
    ],
)
def test_secrets_are_not_told(name: str, value: object, told: str) -> None:
    assert Settings.model_validate({name: value}).told() == {f"ABACUS_{name.upper()}": told}


async def test_they_are_read_by_a_command_and_a_page(pool: Pool, database_url: str) -> None:
    async with desk(pool) as open_desk:
        now = open_desk.clock.now()
        await Presence(pool, open_desk.clock).note(process(1, "relay", now, ABACUS_RETRY_HOURS="5.0"))
        eve, ann = await open_desk.inside("eve", "operator"), await open_desk.inside("ann", "viewer")
        assert (await ann.twin("/settings")).status_code == 403
        shown = (await eve.twin("/settings")).json()["settings"]["value"]
        given = [{"value": "5.0", "processes": ["relay host:1"]}]
        assert [(each["name"], each["given"]) for each in shown] == [("ABACUS_RETRY_HOURS", given)]
        assert "5.0" in (await eve.see("/settings")).text
    told = await abacus("settings", "--json", env={"ABACUS_DATABASE_URL": database_url})
    assert (told.code, isinstance(told.json, list)) == (0, True)

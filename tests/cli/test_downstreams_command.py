"""`abacus downstreams` as operators use it, on a real Postgres and with a receiver that answers."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from abacus.people.store.audit import log
from abacus.platform.encryption import new_keyring_text
from abacus.platform.postgres import Pool
from tests.support.commands import Ran, abacus
from tests.support.receiver import Receiver, receiving
from tests.support.staff import hire

pytestmark = pytest.mark.once

Command = Callable[..., Awaitable[Ran]]
RISK = {"name": "risk", "kind": "external", "type": "integer", "otherwise": "false"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as each:
        yield each


@pytest.fixture
async def command(database_url: str, pool: Pool) -> Command:
    staff = {name: await hire(pool, name, role) for name, role in {"kim": "operator", "ann": "country_editor"}.items()}
    key = new_keyring_text("k1")

    async def run(*words: str | Path, by: str = "kim") -> Ran:
        env = {
            "ABACUS_DATABASE_URL": database_url,
            "ABACUS_WEBHOOKS_TO_PRIVATE": "true",
            "ABACUS_SECRETS_KEY": key,
            "COLUMNS": "200",
            "ABACUS_TOKEN": staff[by],
        }
        return await abacus(*map(str, words), env=env)

    return run


def written(folder: Path, document: dict[str, Any]) -> Path:
    file = folder / f"{document['name']}.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


async def test_a_webhook_from_its_document_to_its_end(
    command: Command, receiver: Receiver, tmp_path: Path, pool: Pool
) -> None:
    file = written(tmp_path, {"name": "coupons", "kind": "webhook", "url": receiver.url})
    first = await command("downstreams", "publish", file)
    secret = first.out.splitlines()[-1]
    assert first.out.splitlines()[-2] == "coupons@1 published"
    stored = await pool.fetchval("select secret from downstream_secret")
    assert stored.startswith("enc:v1:k1:")
    assert "nothing to publish" in (await command("downstreams", "publish", file)).err

    assert (await command("downstreams", "test", "coupons")).code == 0
    assert receiver.requests[-1].is_signed_with(secret)
    new = (await command("downstreams", "rotate-secret", "coupons", "--json")).json["secret"]
    receiver.answers("410 Gone")
    trial = await command("downstreams", "test", "coupons", "--json")
    assert (trial.code, trial.json["status"], trial.json["fault"]) == (1, 410, "answered 410")
    assert receiver.requests[-1].is_signed_with(new, secret)

    moved = written(tmp_path, {"name": "coupons", "kind": "webhook", "url": receiver.url, "pace": "5/s"})
    again = (await command("downstreams", "publish", moved, "--json")).json
    assert [(each["name"], each["secret"]) for each in again["published"]] == [("coupons@2", None)]
    assert (await command("downstreams", "retire", "coupons")).out == "coupons is retired\n"
    (row,) = (await command("downstreams", "list", "--json")).json
    assert (row["name"], row["retired"]) == ("coupons@3", True)
    assert (await command("downstreams", "retire", "coupons")).code != 0
    assert (await command("downstreams", "test", "coupons")).code != 0
    shown = (await command("downstreams", "show", "coupons", "--json")).json
    assert [each["retired"] for each in shown["versions"]] == [False, False, True]
    entries = [entry.deed for entry in await log(pool, subjects=["downstream:coupons"])]
    assert entries == ["publish-downstreams"] * 4


@pytest.mark.parametrize(
    ("body", "fault"),
    [('{"answers": []}', None), ("hello", "no JSON"), ('{"answers": [1]}', "1 answers, and 0 were asked for")],
)
async def test_a_service_is_tried_without_an_event(
    command: Command, receiver: Receiver, tmp_path: Path, body: str, fault: str | None
) -> None:
    await command("downstreams", "publish", written(tmp_path, {**RISK, "url": receiver.url}))
    receiver.answers("200 OK", body=body)
    trial = await command("downstreams", "test", "risk", "--json")
    assert trial.code == (0 if fault is None else 1)
    assert (trial.json["fault"] is None) if fault is None else (fault in trial.json["fault"])
    assert receiver.requests[-1].json["asks"] == []


async def test_only_who_may_publishes_and_retries(command: Command, tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "awards", "kind": "own", "pace": "5/s"})
    assert "may not publish downstreams" in (await command("downstreams", "publish", file, by="ann")).err
    assert "may not replay" in (await command("downstreams", "retry", "coupons", by="ann")).err
    assert (await command("downstreams", "publish", file)).code == 0
    assert (await command("downstreams", "test", "awards")).code == 2


async def test_calls_that_were_given_up_are_made_once_more(command: Command, pool: Pool) -> None:
    await pool.executemany(
        "insert into action (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at,"
        " due_at, document, attempts, failing_since, refused_at, reason)"
        " values ('bob', $1, 0, 'campaign', 'market', 1, 1, 'call', $2, now(), now(), '{}', 3, $3, now(), $4)",
        [
            ("given-up", "webhook:coupons", await pool.fetchval("select now()"), "answered 500"),
            ("guarded", "webhook:coupons", None, "unless"),
            ("another", "webhook:other", await pool.fetchval("select now()"), "answered 500"),
        ],
    )
    assert (await command("downstreams", "retry", "coupons", "--json")).json == {"name": "coupons", "due": 1}
    rows = await pool.fetch("select key from action where refused_at is null")
    assert [row["key"] for row in rows] == ["given-up"]

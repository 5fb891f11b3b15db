"""`abacus partners webhook`, as people and scripts meet it."""

import base64

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from tests.support.commands import abacus
from tests.support.hooks import award, partner, post_and_enter
from tests.support.receiver import receiving

pytestmark = pytest.mark.once

WEBHOOK = ("partners", "webhook")
URL = "https://hooks.example/abacus"


async def test_a_webhook_is_set_shown_changed_and_removed(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    assert (await abacus("partners", "create", "acme", env=env)).code == 0

    made = await abacus(*WEBHOOK, "set", "acme", URL, "--json", env=env)
    secret = made.json["secret"]
    assert made.json == {"partner_id": "acme", "url": URL, "secret": secret}
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    shown = await abacus(*WEBHOOK, "show", "acme", "--json", env=env)
    assert (shown.json["url"], shown.json["waiting"], shown.json["given_up"]) == (URL, 0, 0)
    assert secret not in shown.out

    moved = await abacus(*WEBHOOK, "set", "acme", URL + "/2", env=env)
    assert (moved.out, "the secret stays the same" in moved.err) == (f"acme is told at {URL}/2\n", True)
    assert await pool.fetchval("select secret from webhook") == secret
    rotated = await abacus(*WEBHOOK, "rotate-secret", "acme", "--json", env=env)
    row = await pool.fetchrow("select secret, former_secret, former_secret_until from webhook")
    assert (row["secret"], row["former_secret"]) == (rotated.json["secret"], secret)
    assert row["former_secret_until"] > SystemClock().now()
    assert "the former secret signs too until" in (await abacus(*WEBHOOK, "show", "acme", env=env)).out

    removed = await abacus(*WEBHOOK, "remove", "acme", "--json", env=env)
    assert removed.json == {"partner_id": "acme", "removed": True}
    again = await abacus(*WEBHOOK, "show", "acme", env=env)
    assert (again.code, again.err) == (
        1,
        "abacus: there is no webhook of 'acme'; `abacus partners webhook set acme URL` makes one\n",
    )


async def test_what_did_not_arrive_is_listed_and_sent_again(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    await partner(pool, "acme", URL)
    await post_and_enter(pool, award("api:acme:1"), award("api:acme:2"))
    await pool.execute(
        "update webhook_delivery set given_up_at = now(), last_error = 'answered 500: no', attempts = 9"
        ' where body like \'%"idempotency_key":"1"%\''
    )
    listed = await abacus(*WEBHOOK, "deliveries", "acme", "--json", env=env)
    first = next(each for each in listed.json if each["given_up_at"])
    assert len(listed.json) == 2
    assert (first["type"], first["attempts"], first["last_error"]) == ("award.posted", 9, "answered 500: no")
    shown = await abacus(*WEBHOOK, "deliveries", "acme", env=env)
    assert all(each["message_id"] in shown.out for each in listed.json)
    assert "1 message waiting, 1 given up" in (await abacus(*WEBHOOK, "show", "acme", env=env)).out

    again = await abacus(*WEBHOOK, "retry", "acme", first["message_id"], env=env)
    assert again.out == "1 message due now\n"
    assert await pool.fetchval("select count(*) from webhook_delivery where given_up_at is not null") == 0

    await pool.execute("update webhook set disabled_at = now(), disabled_why = 'answered 410'")
    refused = await abacus(*WEBHOOK, "retry", "acme", env=env)
    assert (refused.code, "with --enable it is used again" in refused.err) == (2, True)
    enabled = await abacus(*WEBHOOK, "retry", "acme", "--enable", "--json", env=env)
    assert enabled.json == {"partner_id": "acme", "due": 2}
    assert await pool.fetchval("select disabled_at from webhook") is None


async def test_a_webhook_is_tried(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_WEBHOOKS_TO_PRIVATE": "1"}
    async with receiving() as receiver:
        await partner(pool, "acme", receiver.url)
        first = (await abacus(*WEBHOOK, "rotate-secret", "acme", "--json", env=env)).json["secret"]
        secret = (await abacus(*WEBHOOK, "rotate-secret", "acme", "--json", env=env)).json["secret"]
        receiver.answers("200 OK", body="thanks\n" + "x" * 300)
        tried = await abacus(*WEBHOOK, "test", "acme", "--json", env=env)
        (request,) = receiver.requests
        assert request.is_signed_with(secret, first)
        assert (request.json["type"], request.json["data"]) == ("abacus.test", {"partner_id": "acme"})
        assert tried.json == {
            "partner_id": "acme",
            "url": receiver.url,
            "message_id": request.id,
            "accepted": True,
            "status": 200,
            "seconds": tried.json["seconds"],
            "answer": "thanks " + "x" * 193,  # 200 bytes
            "error": None,
            "disabled_why": None,
        }

        await pool.execute("update webhook set disabled_at = now(), disabled_why = 'answered 410'")
        receiver.answers("500 Oh", body="[bold]no")
        failed = await abacus(*WEBHOOK, "test", "acme", env=env)
        assert failed.code == 1
        assert f"acme at {receiver.url}: answered 500, after 0." in failed.out
        assert "it says: [bold]no\nthe webhook is disabled (answered 410)" in failed.out
        assert receiver.requests[1].id != request.id
    refused = await abacus(*WEBHOOK, "test", "acme", "--json", env=env)
    assert (refused.code, refused.json["status"], refused.json["accepted"]) == (1, None, False)
    assert refused.json["error"]
    assert await pool.fetchval("select count(*) from webhook_delivery") == 0


@pytest.mark.parametrize(
    ("arguments", "setting", "line"),
    [
        (
            ["test", "nobody"],
            "0",
            "abacus: there is no webhook of 'nobody'; `abacus partners webhook set nobody URL` makes one",
        ),
        (
            ["set", "nobody", URL],
            "0",
            "abacus: there is no partner 'nobody'; `abacus partners list` prints all",
        ),
        (
            ["set", "nobody", "http://hooks.example/"],
            "0",
            (
                "abacus: 'http://hooks.example/': an address of the form https://host/path is needed,"
                " unless ABACUS_WEBHOOKS_TO_PRIVATE is true"
            ),
        ),
        (
            ["set", "nobody", "https://10.0.0.1/"],
            "0",
            (
                "abacus: 'https://10.0.0.1/': 10.0.0.1 is not an address of the public internet,"
                " which is needed unless ABACUS_WEBHOOKS_TO_PRIVATE is true"
            ),
        ),
        (
            ["set", "nobody", "http://10.0.0.1/"],
            "1",
            "abacus: there is no partner 'nobody'; `abacus partners list` prints all",
        ),
        (
            ["remove", "acme"],
            "0",
            "abacus: there is no webhook of 'acme'; `abacus partners webhook set acme URL` makes one",
        ),
        (
            ["retry", "acme"],
            "0",
            "abacus: there is no webhook of 'acme'; `abacus partners webhook set acme URL` makes one",
        ),
        (
            ["deliveries", "acme"],
            "0",
            "abacus: there is no webhook of 'acme'; `abacus partners webhook set acme URL` makes one",
        ),
        (
            ["rotate-secret", "acme"],
            "0",
            "abacus: there is no webhook of 'acme'; `abacus partners webhook set acme URL` makes one",
        ),
    ],
)
async def test_what_is_refused(pool: Pool, database_url: str, arguments: list[str], setting: str, line: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_WEBHOOKS_TO_PRIVATE": setting}
    ran = await abacus(*WEBHOOK, *arguments, env=env)
    assert (ran.code, ran.err) == ((1 if line.startswith("abacus: there is no ") else 2), line + "\n")


async def test_the_worker_needs_kafka(database_url: str) -> None:
    ran = await abacus("worker", "webhooks", env={"ABACUS_DATABASE_URL": database_url})
    assert (ran.code, ran.err) == (2, "abacus: ABACUS_KAFKA_BOOTSTRAP is not set\n")

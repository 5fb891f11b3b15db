"""Who is let in to the partner API: by a key, a signature, and not too often."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from abacus.api.metrics import REQUESTS
from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, new_signing_secret
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from abacus.intake.partners.store import PartnerStore
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.metrics import total
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.shop import Shop, award, register, shop


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house) as opened:
        yield opened


@pytest.mark.long
async def test_keys_open_and_close(house: House, open_shop: Shop) -> None:
    store = PartnerStore(house.pool, SystemClock())
    old = await register(house)
    rotated = LIVE_KEY.new()
    callers = [await open_shop.caller(old), await open_shop.caller(rotated.text)]

    async def statuses() -> list[int]:
        return [(await caller.get("/v1/members/bob")).status_code for caller in callers]

    assert await statuses() == [404, 401]
    await store.rotate("acme", rotated, overlap=timedelta(hours=1))

    async def are(wanted: list[int]) -> bool:
        return await statuses() == wanted

    await until(lambda: are([404, 404]))  # both are valid during the rotation
    third = LIVE_KEY.new()
    await store.rotate("acme", third, overlap=timedelta(0))
    await until(lambda: are([401, 401]))
    callers = [await open_shop.caller(third.text)]
    await until(lambda: are([404]))
    await store.disable("acme")
    await until(lambda: are([401]))
    for header in ({}, {"Authorization": "Basic x"}, {"Authorization": "Bearer abk_live_short"}):
        async with httpx.AsyncClient(base_url=open_shop.url, headers=header) as stranger:
            answer = await stranger.get("/v1/members/bob")
            assert (answer.status_code, kind(answer)) == (401, "unauthorized")
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_signed_requests(house: House, open_shop: Shop) -> None:
    secret = new_signing_secret()
    acme = await open_shop.caller(await register(house, signing_secret=secret))
    assert kind(await award(acme, "k")) == "bad-signature"

    async def signed(moment: datetime, body: bytes, sent: bytes, sent_key: str = "k") -> httpx.Response:
        stamp = int(moment.timestamp())
        headers = {
            "Idempotency-Key": sent_key,
            "Content-Type": "application/json",
            TIMESTAMP_HEADER: str(stamp),
            SIGNATURE_HEADER: sign(secret, "POST", "/v1/awards", body, key="k", timestamp=stamp),
        }
        return await acme.post("/v1/awards", content=sent, headers=headers)

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 100_000

    assert kind(await acme.post("/v1/awards", content=endless())) == "too-large"
    now = datetime.now(UTC)
    body = b'{"member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"}'
    assert (await signed(now, body, body)).status_code == 202
    for answer in (
        await signed(now, body, body.replace(b"5", b"6")),
        await signed(now - timedelta(minutes=6), body, body),
    ):
        assert (answer.status_code, kind(answer)) == (401, "bad-signature")
    replayed = [await signed(now, body, body, key) for key in ("k2", "k3", "k4")]  # three further awards, once
    assert [kind(answer) for answer in replayed] == ["bad-signature"] * 3
    assert await house.pool.fetchval("select count(*) from partner_award") == 1
    again = await signed(now, body, body)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (202, "true")


async def test_a_captured_request_with_a_second_key_or_an_old_signature_is_refused(
    house: House, open_shop: Shop
) -> None:
    secret = new_signing_secret()
    acme = await open_shop.caller(await register(house, signing_secret=secret))
    body, stamp = (
        b'{"member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"}',
        int(datetime.now(UTC).timestamp()),
    )
    headers = [
        ("Content-Type", "application/json"),
        (TIMESTAMP_HEADER, str(stamp)),
        (SIGNATURE_HEADER, sign(secret, "POST", "/v1/awards", body, key="k", timestamp=stamp)),
    ]
    for keys in (["k", "k2"], ["k2", "k"]):
        twice = [*headers, *(("Idempotency-Key", key) for key in keys)]
        assert kind(await acme.post("/v1/awards", content=body, headers=twice)) == "malformed"
    old = await acme.post("/v1/awards", content=body, headers=[*headers[:2], (SIGNATURE_HEADER, "v1=" + "0" * 64)])
    assert (old.status_code, kind(old)) == (401, "bad-signature")
    assert "v2=" in old.json()["detail"]
    assert await house.pool.fetchval("select count(*) from partner_award") == 0


async def test_a_secret_that_cannot_be_read_refuses_its_partner_alone(house: House) -> None:
    secret, clock = new_signing_secret(), SystemClock()
    mine, lost = new_keyring_text("mine"), Secrets.of(new_keyring_text("lost"))
    keys = {name: await register(house, name, signing_secret="abs_x") for name in ("acme", "bits")}
    await PartnerStore(house.pool, clock, Secrets.of(mine)).sign("acme", secret)
    await PartnerStore(house.pool, clock, lost).sign("bits", secret)
    async with shop(house, settings=house.settings.model_copy(update={"secrets_key": mine})) as opened:
        stamp = int(datetime.now(UTC).timestamp())
        answers = {}
        for name, key in keys.items():
            caller = await opened.caller(key)
            signature = sign(secret, "GET", "/v1/members/bob", b"", key="", timestamp=stamp)
            headers = {TIMESTAMP_HEADER: str(stamp), SIGNATURE_HEADER: signature}
            answers[name] = await caller.get("/v1/members/bob", headers=headers)
        assert kind(answers["acme"]) == "not-found"
        assert (answers["bits"].status_code, kind(answers["bits"])) == (503, "unavailable")
        assert "lost" not in answers["bits"].text


@pytest.mark.long
async def test_too_many_requests(house: House, open_shop: Shop) -> None:
    acme = await open_shop.caller(await register(house, requests_per_minute=5))
    answers = [await acme.get("/v1/members/bob") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [404] * 5 + [429]
    assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
    last = answers[-1]
    assert (kind(last), last.headers["ratelimit-limit"]) == ("too-many-requests", "5")
    assert 1 <= int(last.headers["retry-after"]) <= 12
    refused = {"route": "/v1/members/{member_id:path}", "status": "429"}
    assert total(REQUESTS, **refused) >= 1

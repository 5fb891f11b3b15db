"""Test keys: the same answers as live ones, and no row in common with them."""

from datetime import UTC, datetime
from typing import Any, Final

import httpx
import pytest

from abacus.intake.awarding.metrics import AWARDS, POINTS
from abacus.intake.partners.decide.partner import TEST_KEY, new_signing_secret
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from abacus.intake.partners.metrics import PARTNER_AWARDS
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.metrics import MOVEMENTS
from abacus.platform.metrics import QUARANTINED, total
from abacus.platform.migrations import current_revision, has_sandbox, head_revision, make_sandbox, migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.sandbox import SCHEMA, SESSION
from tests.api.sandboxes import CLOCK, access, opened, rows
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.shop import GRANT, MEAL, award, register, shop

pytestmark = pytest.mark.once

COUNTED: Final = (AWARDS, MOVEMENTS, POINTS, QUARANTINED)


async def lived(caller: httpx.AsyncClient) -> list[tuple[int, Any]]:
    """A member's points, from the welcome to the end: every answer, without times."""
    answers: list[httpx.Response] = []

    async def ask(path: str, key: str = "", body: dict[str, Any] | None = None) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        answers.append(
            await caller.post(path, json=body, headers={**headers, "Prefer": "wait=10"})
            if body is not None
            else await caller.get(path)
        )
        return answers[-1].json()

    member = "/v1/members/bob"
    await ask(member)
    await ask("/v1/quotes", "", GRANT)
    granted = await ask("/v1/awards", "a-1", GRANT)
    await ask("/v1/awards", "a-1", GRANT)
    await ask("/v1/awards", "a-1", GRANT | {"points": 7})
    await ask("/v1/awards", "a-2", GRANT | {"points": 501})
    await ask("/v1/awards", "a-3", {"member_id": "bob", "transaction": MEAL})
    await ask(f"/v1/awards/{granted['award_id']}")
    await ask(f"{member}/spend", "s-1", {"points": 30, "reason": "A coffee"})
    await ask(f"{member}/spend", "s-2", {"points": 10_000})
    held = await ask(f"{member}/holds", "h-1", {"points": 20})
    await ask(f"{member}/holds/{held['hold_id']}/capture", "", {"points": 5})
    await ask("/v1/transfers/bob:GRP:3/reverse", "r-1", {"points": 10})
    await ask(f"{member}/adjustments", "j-1", {"points": 501, "reason": "Sorry", "actor": "ann"})
    await ask(f"{member}/adjustments", "j-2", {"points": 9, "reason": "Sorry", "actor": "ann"})
    await ask(f"{member}/preferences")
    for path in (member, f"{member}/transfers", f"{member}/lots", f"{member}/holds"):
        await ask(path)
    return [(answer.status_code, _timeless(answer.json())) for answer in answers]


def _timeless(told: Any) -> Any:
    if isinstance(told, dict):
        changing = {"posted_at", "occurred_at", "quoted_for", "until", "request_id"}
        return {name: _timeless(value) for name, value in told.items() if name not in changing}
    return [_timeless(each) for each in told] if isinstance(told, list) else told


@pytest.mark.long
async def test_the_same_answers_and_other_points(house: House, sandbox: Pool) -> None:
    """The sandbox is first: nothing of it is there afterwards, or the live answers would differ."""
    async with opened(house, sandbox, "awarder") as at:
        before = await rows(house.pool, "public")
        counted, acme = [total(each) for each in COUNTED], total(PARTNER_AWARDS, partner="acme")
        tried = await lived(at.test)
        assert await rows(house.pool, "public") == before  # so no report, total or stream can tell
        assert [total(each) for each in COUNTED] == counted
        assert total(PARTNER_AWARDS, partner="acme") == acme
        played = await rows(house.pool, SCHEMA)
        assert tried == await lived(at.live)
        assert await rows(house.pool, SCHEMA) == played
        assert {status for status, _ in tried} >= {200, 201, 403, 404, 409, 422}
        answers = [await caller.get("/v1/members/bob") for caller in (at.test, at.live)]
        assert [answer.headers.get("abacus-mode") for answer in answers] == ["test", None]


@pytest.mark.long
async def test_neither_key_reaches_the_others_points(house: House, sandbox: Pool) -> None:
    async with opened(house, sandbox, "awarder") as at:
        for mine, other in ((at.live, at.test), (at.test, at.live)):
            name = "zoe" if mine is at.live else "eve"
            grant = await award(mine, f"a-{name}", GRANT | {"member_id": name}, Prefer="wait=10")
            assert grant.status_code == 201
            path = f"/v1/members/{name}"
            hold = await mine.post(f"{path}/holds", json={"points": 5}, headers={"Idempotency-Key": f"h-{name}"})
            states = await rows(house.pool, "public"), await rows(house.pool, SCHEMA)
            for answer in (
                await other.get(path),
                await other.get(f"{path}/transfers"),
                await other.get(f"{path}/lots"),
                await other.get(f"{path}/preferences"),
                await other.get(f"/v1/awards/{grant.json()['award_id']}"),
                await other.post(f"{path}/spend", json={"points": 1}, headers={"Idempotency-Key": "s"}),
                await other.post(f"{path}/holds", json={"points": 1}, headers={"Idempotency-Key": "h"}),
                await other.post(f"{path}/holds/{hold.json()['hold_id']}/capture"),
                await other.post(f"{path}/holds/{hold.json()['hold_id']}/release"),
                await other.post(f"/v1/transfers/{name}:GRP:1/reverse", json={}, headers={"Idempotency-Key": "r"}),
                await other.put(f"{path}/preferences", json={"channels": []}),
            ):
                assert (answer.status_code, kind(answer)) in {(404, "not-found"), (404, "no-such-hold")}
            assert states == (await rows(house.pool, "public"), await rows(house.pool, SCHEMA))


@pytest.mark.long
async def test_awards_of_the_sandbox_need_no_worker_and_holds_end_by_themselves(house: House, sandbox: Pool) -> None:
    async with opened(house, sandbox) as at:
        posted = await award(at.test, "a-1", Prefer="wait=10")
        assert posted.status_code == 201, posted.text
        assert posted.json()["balance"] == 100
        held = {"points": 60, "expires_in": 1}
        await at.test.post("/v1/members/bob/holds", json=held, headers={"Idempotency-Key": "h-1"})

        async def free() -> bool:
            (account,) = (await at.test.get("/v1/members/bob")).json()["accounts"]
            return bool(account["available"] == 100)

        await until(free)


@pytest.mark.long
async def test_rights_are_the_live_ones_and_the_newest_test_key_counts(house: House, sandbox: Pool) -> None:
    async with opened(house, sandbox) as at:
        store = PartnerStore(house.pool, CLOCK)
        newer = await at.shop.caller((await access(house, sandbox))[0])

        async def are(*expected: int) -> bool:
            return [(await each.get("/v1/members/bob")).status_code for each in (at.test, newer)] == [*expected]

        await until(lambda: are(401, 404))
        await store.change("acme", {"countries": ("ID",)})

        async def refused() -> bool:
            quote = await newer.post("/v1/quotes", json=GRANT)
            return quote.status_code == 403 and kind(quote) == "country-not-allowed"

        await until(refused)
        await store.disable("acme")
        await until(lambda: are(401, 401))


@pytest.mark.long
async def test_who_signs_signs_in_the_sandbox_with_another_secret(house: House, sandbox: Pool) -> None:
    live_secret = new_signing_secret()
    live = await register(house, signing_secret=live_secret)
    key, secret = await access(house, sandbox)
    assert secret not in {None, live_secret}
    async with shop(house) as running:
        stamp = int(datetime.now(UTC).timestamp())

        async def signed(caller_key: str, with_secret: str | None) -> str:
            caller = await running.caller(caller_key)
            signature = sign(with_secret or "", "GET", "/v1/members/bob", b"", key="", timestamp=stamp)
            headers = {TIMESTAMP_HEADER: str(stamp), SIGNATURE_HEADER: signature}
            return kind(await caller.get("/v1/members/bob", headers=headers))

        assert [await signed(key, secret), await signed(live, live_secret)] == ["not-found"] * 2
        assert [await signed(key, live_secret), await signed(live, secret)] == ["bad-signature"] * 2


async def test_without_a_sandbox_a_test_key_is_no_key(house: House) -> None:
    await register(house)
    async with shop(house) as running:
        answer = await (await running.caller(TEST_KEY.new().text)).get("/v1/members/bob")
        assert (answer.status_code, kind(answer)) == (401, "unauthorized")


@pytest.mark.long
async def test_a_sandbox_is_made_once_migrated_with_the_rest_and_made_anew(house: House, sandbox: Pool) -> None:
    url = house.settings.required("database_url")
    await register(house)
    await access(house, sandbox)
    await make_sandbox(url)
    assert await migrate(url) == (head_revision(), head_revision())
    assert await sandbox.fetchval("select version_num from alembic_version") == await current_revision(url)
    assert await sandbox.fetchval("select count(*) from partner_key") == 1
    await make_sandbox(url, anew=True)
    assert await has_sandbox(house.pool)
    fresh = await open_pool(url, size=1, settings=SESSION)
    assert await fresh.fetchval("select count(*) from partner_key") == 0
    await fresh.close()
    assert await house.pool.fetchval("select count(*) from partner_key") == 1

"""Test keys: the same answers as live ones, and no row in common with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.engage.offers.codes.desk import CodeDesk
from abacus.engage.offers.codes.loader import Batch
from abacus.intake.awarding.metrics import AWARDS, POINTS
from abacus.intake.partners.decide.partner import TEST_KEY, new_signing_secret
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from abacus.intake.partners.metrics import PARTNER_AWARDS
from abacus.intake.partners.sandbox import new_test_access
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.metrics import MOVEMENTS
from abacus.ledger.types.limits import Limits
from abacus.people.types.person import Actor
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.metrics import QUARANTINED, total
from abacus.platform.migrations import current_revision, has_sandbox, head_revision, make_sandbox, migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.sandbox import SCHEMA, SESSION
from tests.engage.offers.coded import codes
from tests.support.house import House, until
from tests.support.logged import limits_logged
from tests.support.offers import document, run_offers
from tests.support.problems import kind
from tests.support.rewards import load_codes, run_reward
from tests.support.running_journeys import run_journey
from tests.support.shop import GRANT, MEAL, Shop, award, offer_desk, register, shop

pytestmark = pytest.mark.once

CLOCK: Final = SystemClock()
LIMITS: Final = Limits(per_award=500)
COUNTED: Final = (AWARDS, MOVEMENTS, POINTS, QUARANTINED)


class Open(NamedTuple):
    """The API, callers with a live and with a test key of acme, and the tables of the sandbox."""

    shop: Shop
    live: httpx.AsyncClient
    test: httpx.AsyncClient
    sandbox: Pool


@pytest.fixture
async def sandbox(house: House) -> AsyncIterator[Pool]:
    await make_sandbox(house.settings.required("database_url"))
    pool = await open_pool(house.settings.required("database_url"), size=2, settings=SESSION)
    yield pool
    await pool.close()


async def access(house: House, sandbox: Pool, partner_id: str = "acme") -> tuple[str, str | None]:
    live, own = PartnerStore(house.pool, CLOCK), PartnerStore(sandbox, CLOCK)
    return await new_test_access(live, own, partner_id, also=limits_logged(partner_id))


@asynccontextmanager
async def opened(house: House, sandbox: Pool, *beside: str, **changes: Any) -> AsyncIterator[Open]:
    live = await register(house, limits=LIMITS, may_adjust=True, **changes)
    test, _ = await access(house, sandbox)
    async with shop(house, *beside) as running:
        yield Open(running, await running.caller(live), await running.caller(test), sandbox)


async def rows(pool: Pool, schema: str) -> dict[str, str]:
    """A digest of each table of a schema, but for what is noted a moment later: uses of a key, the pulse, processes."""
    tables = await pool.fetch(
        "select tablename from pg_tables"
        " where schemaname = $1"
        " and tablename not in ('rate_limit', 'partner_request', 'points_pulse', 'worker_process') order by 1",
        schema,
    )
    digests = {}
    for (table,) in tables:
        row = "(r.prefix, r.digest, r.expires_at)" if table == "partner_key" else "r"
        digests[table] = await pool.fetchval(
            f'select md5(string_agg({row}::text, chr(10) order by {row}::text)) from {schema}."{table}" r'
        )
    return digests


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
async def test_rewards_are_redeemed_for_codes_of_no_worth(house: House, sandbox: Pool) -> None:
    """Nothing of the live ledger, its stock and its codes is touched."""
    keyring = new_keyring_text("one")
    await load_codes(house.pool, ["AAA"], secrets=Secrets.of(keyring))
    await run_reward(house.pool, price={"points": 60}, limits={"uses": {"member": 1}})
    await register(house, limits=LIMITS)
    test, _ = await access(house, sandbox)
    async with shop(house, settings=house.settings.model_copy(update={"secrets_key": keyring})) as running:
        acme, path = await running.caller(test), "/v1/members/bob/redemptions"
        assert (await award(acme, "a-1", Prefer="wait=10")).json()["balance"] == 100
        before = await rows(house.pool, "public")

        async def stocked() -> bool:
            (coffee,) = (await acme.get("/v1/rewards", params={"member_id": "bob"})).json()["rewards"]
            return not coffee["locks"]

        await until(stocked)
        bought = await acme.post(path, json={"reward": "coffee"}, headers={"Idempotency-Key": "1"})
        assert (bought.status_code, bought.json()["status"], bought.json()["code"][:5]) == (201, "given", "TEST-")
        again = await acme.post(path, json={"reward": "coffee"}, headers={"Idempotency-Key": "2"})
        assert (again.status_code, kind(again)) == (409, "insufficient-points")
        returned = await acme.post(f"{path}/{bought.json()['redemption_id']}/return")
        assert returned.json()["status"] == "returned"
        (account,) = (await acme.get("/v1/members/bob")).json()["accounts"]
        assert account["available"] == 100
        assert await rows(house.pool, "public") == before


PIZZA: Final = {
    "id": "1",
    "product": "pizza",
    "merchant": "m-17",
    "brand": "oven",
    "categories": ["food"],
    "price": "12.00",
    "currency": "SGD",
}
SCOPE: Final = {"everything": True}
UNLIMITED: Final = {"unlimited": True}
FEW: Final = {"uses": {"overall": 1}}
OFFERS: Final = (
    document(name="once", benefit={"amount_off": "1"}, scope=SCOPE, limits=FEW, stack="always"),
    document(name="bonus", benefit={"points_plus": 50}, scope=SCOPE, limits=UNLIMITED, stack="always"),
    document(name="by_mail", benefit={"amount_off": "9"}, scope=SCOPE, limits=UNLIMITED, audience="invitation"),
)


@pytest.mark.long
async def test_offers_are_taken_in_the_sandbox_alone(house: House, sandbox: Pool) -> None:
    """Each limit is the sandbox's own, and points are told and not awarded. Rights are the live ones."""
    await run_offers(house.pool, *OFFERS)
    live_key = await register(house, may_use_offers=True)
    test_key, _ = await access(house, sandbox)
    async with offer_desk(house) as running:
        live, test = await running.caller(live_key), await running.caller(test_key)

        async def reserve(caller: httpx.AsyncClient, offer: str, key: str) -> httpx.Response:
            body = {"member_id": "bob", "item": PIZZA}
            return await caller.post(f"/v1/offers/{offer}/reservations", json=body, headers={"Idempotency-Key": key})

        before = await rows(house.pool, "public")
        ask = {"member_id": "bob", "country": "SG", "scenario": "all", "items": [PIZZA]}
        asked = await test.post("/v1/offers/qualify", json=ask)
        assert asked.headers["abacus-mode"] == "test"
        (item,) = asked.json()["items"]
        assert {each["offer"] for each in (item["best"], *item["others"])} == {"once", "bonus"}
        assert asked.json()["degraded"] is False
        assert kind(await test.post("/v1/offers/qualify", json={**ask, "explain": True})) == "explain-not-allowed"
        named = {"member_id": "bob", "country": "SG", "items": [PIZZA], "offers": ["once"], "codes": ["K7PMQ2XW"]}
        verdicts = (await test.post("/v1/offers/validate", json=named)).json()["offers"]
        assert [each.get("saves") for each in verdicts] == ["1.00", None]

        held = await reserve(test, "once", "1")
        assert (held.status_code, held.json()["saves"], held.headers["abacus-mode"]) == (201, "1.00", "test")
        assert kind(await reserve(test, "once", "2")) == "offer-limit-reached"
        of = f"/v1/reservations/{held.json()['reservation_id']}"
        assert kind(await live.post(f"{of}/release")) == "not-found"
        assert (await test.post(f"{of}/release")).json()["status"] == "released"
        bonus = (await reserve(test, "bonus", "3")).json()["reservation_id"]
        redeemed = await test.post(f"/v1/reservations/{bonus}/redeem", json={"items": [PIZZA]})
        assert (redeemed.status_code, redeemed.json()["points"]) == (201, 50)
        path = f"/v1/redemptions/{redeemed.json()['redemption_id']}/rollback"
        assert kind(await live.post(path, headers={"Idempotency-Key": "4"})) == "not-found"
        rolled_back = await test.post(path, headers={"Idempotency-Key": "4"})
        assert rolled_back.json()["points_rolled_back"] == 50

        assert await rows(house.pool, "public") == before
        assert await sandbox.fetchval("select count(*) from transfer") == 0
        assert (await reserve(live, "once", "1")).status_code == 201
        await PartnerStore(house.pool, CLOCK).change("acme", {"may_use_offers": False})

        async def refused() -> bool:
            answer = await test.post("/v1/offers/qualify", json=ask)
            return answer.status_code == 403 and kind(answer) == "offers-not-allowed"

        await until(refused)


@pytest.mark.long
async def test_live_codes_and_invitations_are_tried_in_the_sandbox(house: House, sandbox: Pool) -> None:
    """A code that is used there is free for members, and who guesses with the one key waits with the other."""
    keyring, (one, *unknown) = new_keyring_text("one"), codes(41)
    batch = Batch("lunch_20", "SG", "one", is_checked=True, made_by="person:ann")
    await CodeDesk(house.pool, CLOCK, Secrets.of(keyring)).load(batch, [one], Actor("person:ann", None))
    by_code = document(name="lunch_20", audience="code", codes="pool", scope=SCOPE, limits=UNLIMITED)
    await run_offers(house.pool, *OFFERS, by_code)
    live_key, (test_key, _) = await register(house, may_use_offers=True), await access(house, sandbox)
    async with offer_desk(house, house.settings.model_copy(update={"secrets_key": keyring})) as running:
        live, test = await running.caller(live_key), await running.caller(test_key)

        async def reserve(
            caller: httpx.AsyncClient, offer: str, member_id: str, code: str | None = None
        ) -> httpx.Response:
            body = {"member_id": member_id, "item": PIZZA, "code": code}
            headers = {"Idempotency-Key": f"{offer}-{member_id}"}
            return await caller.post(f"/v1/offers/{offer}/reservations", json=body, headers=headers)

        held = await reserve(test, "lunch_20", "bob", one)
        assert held.status_code == 201, held.text
        redeemed = await test.post(f"/v1/reservations/{held.json()['reservation_id']}/redeem", json={"items": [PIZZA]})
        assert redeemed.status_code == 201
        assert (await reserve(test, "lunch_20", "ann", one)).json()["reason"] == "code-used"
        assert await house.pool.fetchval("select count(*) from offer_code_use") == 0
        assert (await reserve(live, "lunch_20", "ann", one)).status_code == 201
        rollback = f"/v1/redemptions/{redeemed.json()['redemption_id']}/rollback"
        assert (await test.post(rollback, headers={"Idempotency-Key": "back"})).status_code == 200

        async def free_again() -> bool:
            return (await reserve(test, "lunch_20", "eve", one)).status_code == 201

        await until(free_again)

        assert (await reserve(test, "by_mail", "bob")).json()["reason"] == "admission"
        assert (await reserve(test, "by_mail", "invited-bob")).status_code == 201
        assert (await reserve(live, "by_mail", "invited-bob")).json()["reason"] == "admission"

        async def guess(caller: httpx.AsyncClient, some: Sequence[str]) -> int:
            body = {"country": "SG", "items": [PIZZA], "codes": some}
            return (await caller.post("/v1/offers/validate", json=body)).status_code

        assert [await guess(test, unknown[:20]), await guess(test, unknown[20:])] == [200, 429]
        assert await guess(live, [one]) == 429


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


@pytest.mark.long
async def test_entries_to_live_journeys_are_tried_in_the_sandbox(house: House, sandbox: Pool) -> None:
    """Nobody enters the live journey."""
    await run_journey(house, name="trip", entry={"api": True}, begin="end", nodes={"end": {"exit": "through"}})
    async with opened(house, sandbox) as at:
        before = await rows(house.pool, "public")
        body, key = {"member_id": "bob", "context": {}}, {"Idempotency-Key": "1"}
        tried = await at.test.post("/v1/journeys/trip/entries", json=body, headers=key)
        assert (tried.status_code, tried.json()["status"]) == (202, "waiting")
        assert len((await at.test.get("/v1/journeys/trip/members/bob")).json()["entries"]) == 1
        assert (await at.live.get("/v1/journeys/trip/members/bob")).json()["entries"] == []
        assert await rows(house.pool, "public") == before

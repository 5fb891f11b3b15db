"""The Python client, blocking and awaited, against the API, the awarder and the ledger."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
import pytest

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner, new_signing_secret
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus_client import AsyncClient, Award, Client, FixedItem, Refused, Transaction, Unauthorized
from tests.client.asking import EitherClient, ask, closed, listed
from tests.support.house import House, until
from tests.support.logged import limits_logged
from tests.support.paths import DOCS

GUIDE = DOCS / "partners/partners.md"
MEAL: Transaction = {
    "transaction_id": "A-1",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": "2026-05-01T12:30:00+08:00",
}


class Access(NamedTuple):
    """A partner's address and key."""

    base_url: str
    key: str
    signing_secret: str | None


@asynccontextmanager
async def _open(house: House, *, signing_secret: str | None = None) -> AsyncIterator[Access]:
    """An API with an awarder behind it, and a partner for Singapore and Indonesia."""
    clock = SystemClock()
    key = LIVE_KEY.new()
    partner = Partner(
        partner_id="acme",
        name="Acme",
        fixed_points=True,
        computed_points=True,
        countries=("ID", "SG", "XX"),
        card_scope=None,
        requests_per_minute=6000,
        signing_secret=signing_secret,
        created_at=clock.now(),
        created_by="tests",
        disabled_at=None,
        may_spend=True,
    )
    await PartnerStore(house.pool, clock).create(
        partner, Limits(per_award=100_000), key, also=limits_logged(partner.partner_id)
    )
    access = Access(f"http://127.0.0.1:{house.settings.api_port}", key.text, signing_secret)
    async with house.running("api", "awarder"):
        async with httpx.AsyncClient(base_url=access.base_url) as http:
            await until(lambda: _is_served(http))
        yield access


async def _is_served(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/problems")).is_success
    except httpx.TransportError:
        return False


@asynccontextmanager
async def _client(kind: type[Client | AsyncClient], access: Access) -> AsyncIterator[EitherClient]:
    client = kind(access.base_url, access.key, signing_secret=access.signing_secret)
    try:
        yield client
    finally:
        await closed(client)


async def _welcome(
    client: EitherClient,
    *,
    country: str = "SG",
    points: int = 100,
    idempotency_key: str | None = None,
    wait_s: int = 0,
) -> Award:
    return await ask(
        client.award,
        "bob",
        country=country,
        points=points,
        reason="Welcome",
        idempotency_key=idempotency_key,
        wait_s=wait_s,
    )


both = pytest.mark.parametrize("kind", [Client, AsyncClient])


@both
async def test_awards_from_asking_to_the_ledger(house: House, kind: type[Client | AsyncClient]) -> None:
    async with _open(house) as access, _client(kind, access) as client:
        posted = await _welcome(client, wait_s=10)
        assert (posted.status, posted.points, posted.balance, posted.replayed) == ("posted", 100, 100, False)
        again = await _welcome(client, idempotency_key=posted.idempotency_key)
        assert (again.award_id, again.replayed) == (posted.award_id, True)
        with pytest.raises(Refused) as reused:
            await _welcome(client, points=7, idempotency_key=posted.idempotency_key)
        assert (reused.value.status, reused.value.type) == (422, "idempotency-key-reused")

        quote = await ask(client.quote_transaction, "bob", MEAL)
        meal = await ask(client.award_transaction, "bob", MEAL, wait_s=10)
        assert (quote.points, quote.explanation) == (meal.points, meal.explanation) == (60, quote.explanation)
        assert (await ask(client.quote, "bob", country="SG", points=5, reason="Hi")).points == 5

        state = await ask(client.award_state, posted.award_id)
        assert (state.status, state.balance, state.posted_at) == ("posted", 100, posted.posted_at)
        member = await ask(client.member, "bob")
        assert [(each.program, each.balance, each.available) for each in member.accounts] == [("GRP", 160, 160)]
        transfers = await listed(client.transfers("bob"))
        assert [(each.seq, each.points, each.balance_after) for each in transfers] == [(2, 60, 160), (1, 100, 100)]
        assert transfers[1].key == f"api:acme:{posted.idempotency_key}"
        assert await listed(client.transfers("bob", "OVO")) == []
    assert await house.transfers() == 2


@pytest.mark.long
@both
async def test_a_batch_and_all_pages_of_its_transfers(house: House, kind: type[Client | AsyncClient]) -> None:
    items: list[FixedItem] = [
        {"idempotency_key": f"w-{n}", "member_id": "eve", "country": "SG", "points": n, "reason": "Hi"}
        for n in range(1, 231)
    ]
    bad: FixedItem = {"member_id": "eve", "country": "VN", "points": 5, "reason": "Hi"}
    async with _open(house) as access, _client(kind, access) as client:
        results = await ask(client.award_batch, [*items, bad])
        assert [(each.idempotency_key, each.outcome) for each in results[:-1]] == [
            (each["idempotency_key"], "accepted") for each in items
        ]
        assert results[-1].problem is not None
        assert (results[-1].problem.type, results[-1].problem.errors[0].pointer) == (
            "country-not-allowed",
            "/awards/230/country",
        )
        await until(lambda: _posted(house, len(items)))
        transfers = await listed(client.transfers("eve", "GRP"))
        assert [each.seq for each in transfers] == list(range(230, 0, -1))
        assert sum(each.points for each in transfers) == transfers[0].balance_after == sum(range(1, 231))
        repeated = await ask(client.award_batch, items)
        assert {each.outcome for each in repeated} == {"replayed"}
        assert all(each.award is not None and each.award.replayed for each in repeated)


@pytest.mark.long
@both
async def test_what_is_refused(house: House, kind: type[Client | AsyncClient]) -> None:
    async with _open(house) as access:
        async with _client(kind, access) as client:
            for country, status, type_ in (("VN", 403, "country-not-allowed"), ("XX", 422, "unknown-country")):
                with pytest.raises(Refused) as refused:
                    await _welcome(client, country=country)
                assert (refused.value.status, refused.value.type) == (status, type_)
                assert [fault.pointer for fault in refused.value.errors] == ["/country"]
                assert refused.value.request_id
            with pytest.raises(Refused, match="award-cap-exceeded"):
                await _welcome(client, points=100_001)
            with pytest.raises(Refused, match="not-found"):
                await ask(client.member, "nobody")
        async with _client(kind, access._replace(key=LIVE_KEY.new().text)) as stranger:
            with pytest.raises(Unauthorized):
                await _welcome(stranger)
    assert await house.transfers() == 0


@pytest.mark.long
@both
async def test_signed_requests(house: House, kind: type[Client | AsyncClient]) -> None:
    member_id = "zoë 100% ü?#&"
    async with _open(house, signing_secret=new_signing_secret()) as access:
        async with _client(kind, access) as client:
            award = await ask(client.award, member_id, country="ID", points=5, reason="Terima kasih ✓", wait_s=10)
            assert (await ask(client.award_state, award.award_id)).status == "posted"
            assert (await ask(client.member, member_id)).member_id == member_id
            assert [each.points for each in await listed(client.transfers(member_id, award.program))] == [5]
        for secret in (None, new_signing_secret()):
            async with _client(kind, access._replace(signing_secret=secret)) as forger:
                with pytest.raises(Unauthorized, match="bad-signature"):
                    await ask(forger.member, member_id)


class _LosesAnAnswer(httpx.AsyncHTTPTransport):
    """The first request arrives, and its answer does not."""

    lost = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if self.lost:
            return answer
        self.lost += 1
        await answer.aread()
        await answer.aclose()
        raise httpx.ReadError("the connection was lost")


@pytest.mark.long
async def test_an_award_whose_answer_is_lost_is_paid_once(house: House) -> None:
    async with (
        _open(house) as access,
        AsyncClient(access.base_url, access.key, transport=_LosesAnAnswer()) as client,
    ):
        award = await client.award("bob", country="SG", points=100, reason="Welcome", wait_s=10)
        assert (award.status, award.replayed, award.balance) == ("posted", True, 100)
        assert [each.points async for each in client.transfers("bob")] == [100]


@pytest.mark.long
async def test_the_example_of_the_guide_prints_what_it_says(house: House) -> None:
    section = GUIDE.read_text("utf-8").partition("## The Python client")[2]
    match = re.search(r"```python\n([\s\S]*?)```\n\n((?:    .*\n)+)", section)
    assert match is not None
    async with _open(house) as access:
        example = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            match[1],
            env={**os.environ, "ABACUS_URL": access.base_url, "ABACUS_KEY": access.key},
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await example.communicate()
    assert printed.decode() == re.sub(r"^ {4}", "", match[2], flags=re.MULTILINE)


async def _posted(house: House, count: int) -> bool:
    return await house.transfers() >= count

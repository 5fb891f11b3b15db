"""The requests that the client sends, and how it reads answers."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import httpx
import pytest

from abacus import __version__
from abacus.intake.partners.decide.signature import BadSignature, SignedRequest, check_signature
from abacus_client import (
    Account,
    ApiError,
    Count,
    CountQuery,
    Event,
    EventResult,
    FixedItem,
    KeyCount,
    Member,
    Position,
    PositionResult,
    Problem,
    Quote,
    QuotedTransaction,
    Series,
    SeriesQuery,
    Slot,
    Transaction,
    Unavailable,
)
from tests.client.asking import ask, listed
from tests.client.scripted import KEY, ScriptedApi, accepted, award_document, problem, transfer_document
from tests.support.fixed_clock import FixedClock

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

TRANSACTION: Transaction = {
    "transaction_id": "A-1",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": Decimal("15.00"),
    "currency": "SGD",
    "occurred_at": NOW,
}


TO_COME: QuotedTransaction = {
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": NOW,
}


def _sent(api: ScriptedApi) -> Any:
    return json.loads(api.requests[-1].content)


async def test_an_award_as_it_is_sent_and_read(api: ScriptedApi) -> None:
    api.answers(accepted(status="posted", posted_at="2026-05-01T12:00:00Z", balance=180, something="new"))
    award = await ask(api.client().award, "bob", country="SG", points=100, reason="Hi", idempotency_key="k-1")
    (request,) = api.requests
    assert (request.method, str(request.url)) == ("POST", "http://abacus.example/v1/awards")
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["User-Agent"] == f"abacus-client/{__version__}"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Idempotency-Key"] == "k-1"
    assert "Prefer" not in request.headers
    assert _sent(api) == {"member_id": "bob", "country": "SG", "points": 100, "reason": "Hi"}
    assert award.award_id == UUID(str(award_document()["award_id"]))
    assert (award.status, award.points, award.program, award.member_id) == ("posted", 100, "GRP", "bob")
    assert (award.expires_on, award.posted_at, award.balance) == (date(2026, 11, 30), NOW, 180)
    assert award.explanation["card"] == "SG@1"
    assert (award.replayed, award.idempotency_key) == (False, "k-1")


async def test_a_transaction_keeps_its_decimals_and_its_offset(api: ScriptedApi) -> None:
    api.answers(accepted())
    await ask(api.client().award_transaction, "bob", TRANSACTION, program="GRP")
    expected = {**TRANSACTION, "amount": "15.00", "occurred_at": "2026-05-01T12:00:00+00:00"}
    assert _sent(api) == {"member_id": "bob", "program": "GRP", "transaction": expected}


@pytest.mark.parametrize(("wait_s", "prefer", "read_s"), [(0, None, 2.0), (-1, None, 2.0), (10, "wait=10", 12.0)])
async def test_time_to_wait_is_asked_for_and_given(
    api: ScriptedApi, wait_s: int, prefer: str | None, read_s: float
) -> None:
    api.answers(accepted())
    await ask(api.client(timeout_s=2.0).award_transaction, "bob", TRANSACTION, wait_s=wait_s)
    (request,) = api.requests
    assert request.headers.get("Prefer") == prefer
    assert request.extensions["timeout"] == {"connect": 2.0, "read": read_s, "write": 2.0, "pool": 2.0}


@pytest.mark.parametrize("key", ["", "with space", "line\nbreak", "é", "x" * 256])
async def test_a_key_that_no_header_carries_is_not_sent(api: ScriptedApi, key: str) -> None:
    with pytest.raises(ValueError, match="1 to 255 visible ASCII characters"):
        await ask(api.client().award, "bob", country="SG", points=1, reason="Hi", idempotency_key=key)
    assert api.requests == []


async def test_each_item_of_a_batch_has_its_key_and_its_result(api: ScriptedApi) -> None:
    refusal = {"type": "/problems/unknown-country", "title": "T", "status": 422, "detail": "D"}
    results = [
        {"idempotency_key": "w-1", "outcome": "replayed", "award": award_document()},
        {"idempotency_key": "w-2", "outcome": "refused", "problem": refusal},
    ]
    api.answers(problem(503, "unavailable"), httpx.Response(200, json={"results": results}))
    item: FixedItem = {"member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"}
    items: list[FixedItem] = [{**item, "idempotency_key": "w-1"}, item]
    first, second = await ask(api.client().award_batch, items)
    given, made = _sent(api)["awards"]
    assert given == {**item, "idempotency_key": "w-1"}
    assert UUID(made.pop("idempotency_key")).version == 4
    assert made == item
    assert api.requests[0].content == api.requests[1].content
    assert (first.outcome, first.idempotency_key, first.problem) == ("replayed", "w-1", None)
    assert first.award is not None
    assert (first.award.replayed, first.award.idempotency_key) == (True, "w-1")
    assert (second.outcome, second.award) == ("refused", None)
    assert second.problem == Problem("unknown-country", "T", 422, "D")
    assert not second.problem.passing


async def test_a_batch_that_fails_as_a_whole_gives_back_its_keys(api: ScriptedApi) -> None:
    api.answers(problem(503, "unavailable"))
    item: FixedItem = {"member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"}
    with pytest.raises(Unavailable) as raised:
        await ask(api.client(retries=0).award_batch, [item, item])
    assert list(raised.value.idempotency_keys) == [each["idempotency_key"] for each in _sent(api)["awards"]]
    assert raised.value.idempotency_key is None


async def test_an_event_as_it_is_sent_and_read(api: ScriptedApi) -> None:
    api.answers(problem(503, "unavailable"), httpx.Response(202, json={"key": "app:store.visited:1"}))
    event: Event = {
        "source": "app",
        "type": "store.visited",
        "id": "1",
        "occurred_at": NOW,
        "var": {"spent": Decimal("12.50"), "since": NOW, "tags": ["mall"], "first": True},
    }
    assert await ask(api.client().post_event, event) == "app:store.visited:1"
    assert [(each.method, each.url.path) for each in api.requests] == [("POST", "/v1/events")] * 2
    at = "2026-05-01T12:00:00+00:00"
    var = {"spent": "12.50", "since": at, "tags": ["mall"], "first": True}
    assert _sent(api) == {**event, "occurred_at": at, "var": var}


async def test_each_event_of_a_batch_has_its_result(api: ScriptedApi) -> None:
    refusal = {"type": "/problems/invalid", "title": "T", "status": 422, "detail": "D"}
    results = [{"outcome": "accepted", "key": "app:x:1"}, {"outcome": "refused", "problem": refusal}]
    api.answers(httpx.Response(202, json={"results": results}))
    event: Event = {"source": "app", "type": "x", "id": "1", "occurred_at": NOW}
    accepted_, refused = await ask(api.client().post_events, iter([event, event]))
    assert (api.requests[0].url.path, len(_sent(api)["events"])) == ("/v1/events/batch", 2)
    assert accepted_ == EventResult("accepted", "app:x:1")
    assert refused == EventResult("refused", None, Problem("invalid", "T", 422, "D"))


async def test_positions_as_they_are_sent_and_read(api: ScriptedApi) -> None:
    refusal = {"type": "/problems/in-the-future", "title": "T", "status": 422, "detail": "D"}
    results = [{"outcome": "accepted"}, {"outcome": "refused", "problem": refusal}]
    api.answers(problem(503, "unavailable"), httpx.Response(202, json={"results": results}))
    here: Position = {"member_id": "bob", "lat": 1.30407, "lon": 103.83182, "at": NOW}
    there: Position = {**here, "lat": 2, "accuracy_m": 12.5}
    outcomes = await ask(api.client().post_positions, iter([here, there]))
    assert [(each.method, each.url.path) for each in api.requests] == [("POST", "/v1/positions")] * 2
    at = "2026-05-01T12:00:00+00:00"
    assert _sent(api) == {"positions": [{**here, "at": at}, {**there, "at": at}]}
    assert outcomes == [
        PositionResult("accepted"),
        PositionResult("refused", Problem("in-the-future", "T", 422, "D")),
    ]


async def test_what_became_of_an_award(api: ScriptedApi) -> None:
    api.answers(httpx.Response(200, json=award_document(status="rejected", reason="budget-exhausted", detail="D")))
    award = await ask(api.client().award_state, UUID(str(award_document()["award_id"])))
    assert api.requests[0].url.path == f"/v1/awards/{award.award_id}"
    assert (award.status, award.reason, award.detail) == ("rejected", "budget-exhausted", "D")
    assert (award.posted_at, award.balance, award.idempotency_key) == (None, None, None)


async def test_quotes_award_nothing_and_have_no_key(api: ScriptedApi) -> None:
    worth = {name: award_document()[name] for name in ("points", "program", "member_id", "expires_on", "explanation")}
    quote = {**worth, "card": "SG@7", "quoted_for": "2026-12-02T04:00:00Z", "scheduled": True}
    api.answers(*(httpx.Response(200, json=quote) for _ in range(3)))
    client = api.client()
    fixed = await ask(client.quote, "bob", country="SG", points=100, reason="Hi")
    computed = await ask(client.quote_transaction, "bob", TRANSACTION)
    later = await ask(client.quote_transaction, "bob", TO_COME)
    assert isinstance(fixed, Quote)
    assert fixed == computed == later
    assert (fixed.card, fixed.quoted_for, fixed.scheduled) == ("SG@7", datetime(2026, 12, 2, 4, tzinfo=UTC), True)
    assert [request.url.path for request in api.requests] == ["/v1/quotes"] * 3
    assert not any("Idempotency-Key" in request.headers for request in api.requests)


async def test_counts_as_they_are_asked_for_and_read(api: ScriptedApi) -> None:
    gone = {"type": "/problems/unknown-key", "title": "A title", "status": 404, "detail": "No such key"}
    away = {"type": "/problems/unavailable", "title": "A title", "status": 503, "detail": "It is away"}
    counted = {"key": "rain:7", "from": "2026-05-01T12:00:00Z", "to": "2026-05-01T12:15:00Z"}
    results = [
        {**counted, "count": 487},
        {**counted, "count": "10.50"},
        {"key": "hail:7", "error": gone},
        {"key": None, "error": away},
    ]
    api.answers(httpx.Response(200, json={"results": results, "partial": True}))
    queries = [CountQuery("rain:7", NOW, NOW + timedelta(minutes=20)), CountQuery("hail:7", 1727215430, 1727400000)]
    whole, amount, unknown, failed = await ask(api.client().counts, queries)
    assert str(api.requests[-1].url) == "http://abacus.example/v1/counts"
    assert _sent(api)["queries"] == [
        {"key": "rain:7", "from": "2026-05-01T12:00:00+00:00", "to": "2026-05-01T12:20:00+00:00"},
        {"key": "hail:7", "from": 1727215430, "to": 1727400000},
    ]
    assert whole == Count("rain:7", 487, NOW, NOW + timedelta(minutes=15))
    assert amount.count == Decimal("10.50")
    assert unknown.error is not None
    assert (unknown.count, unknown.error.type, unknown.error.passing) == (None, "unknown-key", False)
    assert failed.error is not None
    assert failed.error.passing
    with pytest.raises(ValueError, match="with an offset"):
        await ask(api.client().counts, [CountQuery("rain:7", NOW.replace(tzinfo=None), NOW)])


async def test_series_as_they_are_asked_for_and_read(api: ScriptedApi) -> None:
    gone = {"type": "/problems/unknown-key", "title": "A title", "status": 404, "detail": "No such key"}
    results: list[dict[str, Any]] = [
        {"key": "rain:7", "grain": "hour", "slots": [["2026-05-01T12:00:00Z", 3], ["2026-05-01T13:00:00Z", 0]]},
        {"key": "litres:7", "grain": "minute", "slots": [["2026-05-01T12:00:00Z", "1.50"]], "open": True},
        {"key": "hail:7", "error": gone},
    ]
    results[0]["open"] = False
    wrong = {"key": "rain:7", "grain": "hour", "open": False, "slots": [["2026-05-01T12:00:00Z"]]}
    api.answers(
        httpx.Response(200, json={"results": results, "partial": False}),
        httpx.Response(200, json={"results": [wrong], "partial": False}),
    )
    queries = [SeriesQuery("rain:7", NOW, NOW + timedelta(hours=2), "hour"), SeriesQuery("hail:7", 0, 900, "minute")]
    rain, litres, unknown = await ask(api.client().series, queries)
    assert str(api.requests[-1].url) == "http://abacus.example/v1/series"
    assert _sent(api)["queries"] == [
        {"key": "rain:7", "from": "2026-05-01T12:00:00+00:00", "to": "2026-05-01T14:00:00+00:00", "grain": "hour"},
        {"key": "hail:7", "from": 0, "to": 900, "grain": "minute"},
    ]
    assert rain == Series("rain:7", "hour", (Slot(NOW, 3), Slot(NOW + timedelta(hours=1), 0)), open=False)
    assert (litres.slots, litres.open) == ((Slot(NOW, Decimal("1.50")),), True)
    assert unknown.error is not None
    assert (unknown.slots, unknown.error.type) == ((), "unknown-key")
    with pytest.raises(ApiError, match="2 members are needed"):
        await ask(api.client().series, queries)


async def test_the_keys_of_a_counter_and_the_largest_of_them(api: ScriptedApi) -> None:
    api.answers(
        httpx.Response(200, json={"keys": [{"key": "rain:1"}, {"key": "rain:2"}], "next": "abc"}),
        httpx.Response(200, json={"keys": [{"key": "rain:3"}], "next": None}),
        httpx.Response(200, json={"keys": [{"key": "rain:2", "count": "7.50"}, {"key": "rain:1", "count": 3}]}),
    )
    client = api.client()
    assert await listed(client.counter_keys("rain")) == ["rain:1", "rain:2", "rain:3"]
    assert api.requests[-1].url.query == b"limit=100&cursor=abc"
    top = await ask(client.top_keys, "rain", 2, NOW, 1777640400)
    assert top == [KeyCount("rain:2", Decimal("7.50")), KeyCount("rain:1", 3)]
    assert api.requests[-1].url.path == "/v1/counters/rain/keys"
    assert api.requests[-1].url.query == b"top=2&from=2026-05-01T12%3A00%3A00%2B00%3A00&to=1777640400"


async def test_a_member_as_it_was(api: ScriptedApi) -> None:
    api.answers(httpx.Response(200, json={"member_id": "bob", "accounts": [], "as_of": "2026-05-01T12:00:00Z"}))
    assert await ask(api.client().member, "bob", as_of=NOW) == Member("bob", (), NOW)
    assert str(api.requests[-1].url) == "http://abacus.example/v1/members/bob?as_of=2026-05-01T12%3A00%3A00%2B00%3A00"
    with pytest.raises(ValueError, match="a time with an offset"):
        await ask(api.client().member, "bob", as_of=NOW.replace(tzinfo=None))


async def test_a_member(api: ScriptedApi) -> None:
    account = {"program": "GRP", "balance": 9, "held": 2, "available": 7, "tier": "gold", "expires_on": None}
    api.answers(httpx.Response(200, json={"member_id": "bob", "accounts": [account]}))
    member = await ask(api.client().member, "bob")
    assert member == Member("bob", (Account("GRP", 9, 2, 7, "gold", None),))


@pytest.mark.parametrize("member_id", ["a/b", "..", ".", "a?b#c", "50%2F", "zoë ünal", "a.b"])
async def test_any_id_is_one_part_of_the_path(api: ScriptedApi, member_id: str) -> None:
    api.answers(httpx.Response(200, json={"member_id": member_id, "accounts": []}))
    await ask(api.client("http://abacus.example/behind/").member, member_id)
    path = api.requests[0].url.raw_path.decode()
    assert path.startswith("/behind/v1/members/")
    assert path.count("/") == 4
    assert unquote(path.rpartition("/")[2]) == member_id


@pytest.mark.parametrize(("pages", "program"), [(1, None), (3, "GRP")])
async def test_transfers_come_page_after_page(api: ScriptedApi, pages: int, program: str | None) -> None:
    seqs = list(range(2 * pages, 0, -1))
    api.answers(
        *(
            httpx.Response(
                200,
                json={
                    "transfers": [transfer_document(seq) for seq in seqs[2 * page : 2 * page + 2]],
                    "next": f"c+{page}=" if page < pages - 1 else None,
                },
            )
            for page in range(pages)
        )
    )
    transfers = await listed(api.client().transfers("bob", program))
    assert [transfer.seq for transfer in transfers] == seqs
    assert transfers[0].posted_at == datetime(2026, 5, 1, 12, 0, 1, 500_000, tzinfo=UTC)
    assert [request.url.params.get("cursor") for request in api.requests] == [
        None,
        *(f"c+{n}=" for n in range(pages - 1)),
    ]
    assert {request.url.params.get("program") for request in api.requests} == {program}


async def test_every_try_is_signed_as_it_is_sent(api: ScriptedApi) -> None:
    page = httpx.Response(200, json={"transfers": [], "next": None})
    api.answers(problem(503, "unavailable"), accepted(), page)
    clock = FixedClock(NOW)
    client = api.client(signing_secret="abs_secret", clock=clock)
    await ask(client.award, "bob", country="SG", points=1, reason="Zoë")
    await listed(client.transfers("zoë/1 %", "GRP"))
    assert len(api.requests) == 3
    for request in api.requests:
        headers = request.headers.multi_items()
        signed = SignedRequest.of(request.method, request.url.raw_path.decode(), request.content, headers)
        assert bool(signed.idempotency_key) is (request.method == "POST")
        check_signature("abs_secret", signed, NOW)
        with pytest.raises(BadSignature):
            check_signature("abs_other", signed, NOW)


async def test_no_secret_no_signature(api: ScriptedApi) -> None:
    api.answers(accepted())
    await ask(api.client().award, "bob", country="SG", points=1, reason="Hi")
    assert "Abacus-Signature" not in api.requests[0].headers

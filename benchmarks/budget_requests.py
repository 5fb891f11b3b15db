"""The requests whose cost has a budget: one kind for each route that is asked often."""

import time
from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any, Final, NamedTuple, TypeAlias

from benchmarks.api import BATCH, MEMBERS, batch_requests, grant_requests, request
from benchmarks.nearby_examples import queries

COUNTRY: Final = "SG"
_PAGE: Final = 20
_POINTS: Final = 5_000

Requests: TypeAlias = Callable[[str], Iterator[bytes]]  # by a partner's key


class Route(NamedTuple):
    """A route, the worker that serves it, and how many requests are a round."""

    name: str
    worker: str
    requests: Requests
    number: int


def _quotes(key: str) -> Iterator[bytes]:
    for number in count():
        transaction = {
            "type": "transaction.completed",
            "source": "acme",
            "transaction_id": f"Q-{number}",
            "country": COUNTRY,
            "vertical": "food",
            "payment_type": "wallet",
            "amount": "15.00",
            "currency": "SGD",
            "occurred_at": "2026-11-10T12:30:00+08:00",
        }
        yield request("POST", "/v1/quotes", key, {"member_id": _member(number), "transaction": transaction})


def _spends(key: str) -> Iterator[bytes]:
    for number in count():
        more = f"idempotency-key: w-{number}\r\n"
        yield request("POST", f"/v1/members/{_member(number)}/spend", key, {"country": COUNTRY, "points": 1}, more)


def _movements(key: str) -> Iterator[bytes]:
    for start in count(0, BATCH):
        items = [
            {"idempotency_key": f"m-{number}", "kind": "spend", "member_id": _member(number), "points": 1}
            for number in range(start, start + BATCH)
        ]
        yield request("POST", "/v1/movements", key, {"movements": items})


def _reads(path: str) -> Requests:
    """A read that names a member in its path."""

    def requests(key: str) -> Iterator[bytes]:
        for number in count():
            yield request("GET", path.format(member=_member(number)), key)

    return requests


def _counts(key: str) -> Iterator[bytes]:
    now = int(time.time())
    for number in count():
        queries = [
            {"key": f"drops:city:{(number + each) % 100}", "from": now - 86_400, "to": now} for each in range(10)
        ]
        yield request("POST", "/v1/counts", key, {"queries": queries})


def _qualify(items: int) -> Requests:
    def requests(key: str) -> Iterator[bytes]:
        for number in count():
            body = {
                "country": COUNTRY,
                "member_id": _member(number),
                "scenario": "best",
                "items": _items(items, number),
            }
            yield request("POST", "/v1/offers/qualify", key, body)

    return requests


def _items(number: int, seed: int) -> list[dict[str, Any]]:
    return [
        {
            "id": str(each),
            "product": f"p{(seed + each) % 997}",
            "merchant": f"m{(seed + each) % 89}",
            "brand": f"b{(seed + each) % 53}",
            "categories": ["food"],
            "price": "12.50",
            "currency": "SGD",
        }
        for each in range(number)
    ]


def _near(path: str) -> Requests:
    def requests(key: str) -> Iterator[bytes]:
        for query in cycle(queries(_POINTS)):
            yield request("GET", f"{path}?{query.decode()}", key)

    return requests


def _member(number: int) -> str:
    return f"m{number * 7 % MEMBERS}"


ROUTES: Final = (
    Route("POST /v1/awards", "api", grant_requests, 600),
    Route(f"POST /v1/awards/batch, {BATCH} awards", "api", batch_requests, 40),
    Route("POST /v1/quotes", "api", _quotes, 800),
    Route("POST /v1/members/{id}/spend", "api", _spends, 600),
    Route(f"POST /v1/movements, {BATCH} spends", "api", _movements, 40),
    Route("GET /v1/members/{id}", "api", _reads("/v1/members/{member}"), 1_200),
    Route("GET /v1/members/{id}/transfers", "api", _reads("/v1/members/{member}/transfers"), 800),
    Route("POST /v1/counts, 10 keys", "counts", _counts, 1_500),
    Route("POST /v1/offers/qualify, one item", "offers", _qualify(1), 1_500),
    Route(f"POST /v1/offers/qualify, {_PAGE} items", "offers", _qualify(_PAGE), 600),
    Route("GET /v1/nearby", "places", _near("/v1/nearby"), 1_000),
    Route("GET /v1/nearby/categories", "places", _near("/v1/nearby/categories"), 1_500),
    Route("GET /v1/regions/at", "places", _near("/v1/regions/at"), 1_500),
)

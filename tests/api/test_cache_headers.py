"""What caches in front are told: for how long, for whom, and whether they have it. Nothing private is ever public."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from starlette.types import Message, Receive, Scope, Send

from abacus.api.auth import Access, PersonCall
from abacus.api.cache_headers import Caching, meant, tag_of, told
from abacus.api.front import Front
from abacus.people.types.person import Actor

pytestmark = pytest.mark.once

BODY = b'{"places": []}'
ACCESS = cast("Access", None)  # nobody asks for anything
FOR_ALL = Caching(fresh_s=5, stale_s=30, is_public=True)


def scope(path: str = "/v1/nearby", query: bytes = b"lat=1.3&lon=103.8", *tags: str, call: object = None) -> Scope:
    headers = [(b"if-none-match", tag.encode()) for tag in tags]
    state = {"call": call}
    return {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": headers, "state": state}


def header(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode() for each, value in headers if each == name]


def test_an_answer_for_all_may_be_kept_by_all_who_see_the_key() -> None:
    answer = told(scope(), BODY, FOR_ALL, age_s=3.9)
    assert (answer.status, answer.body) == (200, BODY)
    assert dict(answer.headers) == {
        b"content-type": b"application/json",
        b"content-length": b"14",
        b"cache-control": b"public, max-age=5, stale-while-revalidate=30",
        b"etag": tag_of(BODY).encode(),
        b"vary": b"Authorization",
        b"age": b"3",
    }


@pytest.mark.parametrize(
    "private",
    [
        scope("/v1/members/bob/offers"),
        scope(query=b"lat=1.3&lon=103.8&member_id=bob"),
        scope(query=b"%6Dember_id=bob&lat=1.3"),
        scope(query=b"MEMBER_ID=bob"),
        scope(call=PersonCall(Actor("eve", ()), ACCESS)),
    ],
    ids=["path", "query", "escaped", "capitals", "person"],
)
def test_what_is_about_a_member_or_for_a_person_is_private_whatever_the_route_says(private: Scope) -> None:
    assert header(told(private, BODY, FOR_ALL).headers, b"cache-control") == [
        "private, max-age=5, stale-while-revalidate=30"
    ]


@pytest.mark.parametrize(
    ("tags", "status"),
    [
        ([], 200),
        ([tag_of(BODY)], 304),
        ([f"W/{tag_of(BODY)}"], 304),
        ([f'"other", {tag_of(BODY)}'], 304),
        (['"other"', tag_of(BODY)], 304),
        (["*"], 304),
        ([tag_of(b"{}")], 200),
        ([tag_of(BODY).strip('"')], 200),
    ],
)
def test_a_caller_who_has_it_is_told_so(tags: list[str], status: int) -> None:
    answer = told(scope("/v1/nearby", b"", *tags), BODY, FOR_ALL)
    assert (answer.status, answer.body) == (status, BODY if status == 200 else b"")
    for name in (b"etag", b"cache-control", b"vary", b"age"):  # RFC 9110, 15.4.5
        assert len(header(answer.headers, name)) == 1
    assert bool(header(answer.headers, b"content-length")) == (status == 200)


def test_a_request_that_may_be_kept_has_a_meaning() -> None:
    def meaning(of: Scope, body: bytes = BODY, caching: Caching = FOR_ALL) -> list[str]:
        answer = meant(of, body, caching)
        assert (answer.status, answer.body, header(answer.headers, b"cache-control")) == (200, b"", ["no-store"])
        return header(answer.headers, b"abacus-meaning")

    assert len(first := meaning(scope())) == 1
    assert meaning(scope(query=b"lat=1.31&lon=103.8")) == first
    for other in (meaning(scope("/v1/regions/at")), meaning(scope(), b"{}")):
        assert other not in ([], first)
    assert meaning(scope(query=b"member_id=bob")) == []
    assert meaning(scope(), caching=Caching(5)) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [([], ["no-store"]), ([(b"Cache-Control", b"public, max-age=5")], ["public, max-age=5"])],
    ids=["silent", "said"],
)
@pytest.mark.parametrize("status", [200, 422])
async def test_what_no_route_speaks_of_is_kept_by_nobody(
    given: list[tuple[bytes, bytes]], kept: list[str], status: int
) -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": given})
        await send({"type": "http.response.body", "body": b"{}"})

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    await Front(app)({**scope(), "state": {}}, receive, send)
    assert [value.decode() for name, value in sent[0]["headers"] if name.lower() == b"cache-control"] == kept

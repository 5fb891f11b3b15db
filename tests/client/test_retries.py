"""The failures that are tried again, when, and under which key."""

from uuid import UUID

import httpx
import pytest

from abacus_client import ApiError, Refused, Unauthorized, Unavailable
from tests.client.asking import ask
from tests.client.scripted import ScriptedApi, accepted, problem

PASSING: list[httpx.Response | httpx.RequestError] = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.ReadTimeout("slow"),
    httpx.ReadError("reset"),
    httpx.RemoteProtocolError("closed without an answer"),
    problem(409, "key-in-flight"),
    problem(429, "too-many-requests"),
    problem(503, "unavailable"),
    httpx.Response(502, text="<html>a proxy's</html>"),
    httpx.Response(504),
]

LASTING: list[tuple[httpx.Response | httpx.RequestError, type[ApiError]]] = [
    (problem(400, "malformed"), Refused),
    (problem(401, "unauthorized"), Unauthorized),
    (problem(401, "bad-signature"), Unauthorized),
    (problem(403, "budget-exhausted"), Refused),
    (problem(404, "not-found"), Refused),
    (problem(409, "some-other-conflict"), Refused),
    (problem(413, "too-large"), Refused),
    (problem(422, "idempotency-key-reused"), Refused),
    (problem(500, "internal"), ApiError),
    (httpx.Response(308, headers={"Location": "https://elsewhere.example"}), ApiError),
    (httpx.LocalProtocolError("a header that cannot be"), ApiError),
]


def _named(case: object) -> str:
    return f"{case.status_code}" if isinstance(case, httpx.Response) else type(case).__name__


@pytest.mark.parametrize("failure", PASSING, ids=_named)
async def test_what_may_pass_is_tried_again_under_the_same_key(
    api: ScriptedApi, failure: httpx.Response | httpx.RequestError
) -> None:
    api.answers(failure, failure, accepted({"Idempotency-Replayed": "true"}))
    award = await ask(api.client().award, "bob", country="SG", points=100, reason="Hi")
    keys = [request.headers["Idempotency-Key"] for request in api.requests]
    assert keys == [award.idempotency_key] * 3
    assert UUID(award.idempotency_key).version == 4
    assert len({request.content for request in api.requests}) == 1
    assert award.replayed
    assert len(api.slept) == 2


@pytest.mark.parametrize(("failure", "error"), LASTING, ids=_named)
async def test_what_lasts_is_not_tried_again(
    api: ScriptedApi, failure: httpx.Response | httpx.RequestError, error: type[ApiError]
) -> None:
    api.answers(failure)
    with pytest.raises(ApiError) as raised:
        await ask(api.client().award, "bob", country="SG", points=100, reason="Hi", idempotency_key="mine")
    assert type(raised.value) is error
    assert raised.value.idempotency_key == "mine"
    assert (len(api.requests), api.slept) == (1, [])


@pytest.mark.parametrize("failure", PASSING, ids=_named)
@pytest.mark.parametrize("retries", [0, 2])
async def test_tries_have_an_end_and_the_error_has_the_key(
    api: ScriptedApi, failure: httpx.Response | httpx.RequestError, retries: int
) -> None:
    api.answers(*[failure] * 9)
    with pytest.raises(Unavailable) as raised:
        await ask(api.client(retries=retries).award, "bob", country="SG", points=100, reason="Hi")
    assert len(api.requests) == 1 + retries
    assert raised.value.idempotency_key == api.requests[0].headers["Idempotency-Key"]
    assert raised.value.__cause__ is (failure if isinstance(failure, Exception) else None)


async def test_each_call_has_a_key_of_its_own(api: ScriptedApi) -> None:
    api.answers(accepted(), accepted())
    client = api.client()
    first, second = [await ask(client.award, "bob", country="SG", points=100, reason="Hi") for _ in range(2)]
    assert first.idempotency_key != second.idempotency_key


async def test_it_waits_as_long_as_it_is_told_and_a_little_longer(api: ScriptedApi) -> None:
    api.answers(problem(429, "too-many-requests", {"Retry-After": "7"}), accepted())
    await ask(api.client().award, "bob", country="SG", points=100, reason="Hi")
    (slept,) = api.slept
    assert 7 <= slept <= 7.2


@pytest.mark.parametrize("told", ["", "soon", "-1", "1.5", "9" * 5000, "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_without_a_number_of_seconds_the_wait_grows_by_itself(api: ScriptedApi, told: str) -> None:
    api.answers(*[problem(503, "unavailable", {"Retry-After": told})] * 3, accepted())
    await ask(api.client().award, "bob", country="SG", points=100, reason="Hi")
    assert all(0 <= slept <= ceiling for slept, ceiling in zip(api.slept, (0.2, 0.4, 0.8), strict=True))


@pytest.mark.parametrize(
    ("told", "tries"),
    [("3600", 1), ("25", 3)],
    ids=["one wait too long", "too long together"],
)
async def test_it_gives_up_rather_than_wait_for_minutes(api: ScriptedApi, told: str, tries: int) -> None:
    api.answers(*[problem(429, "too-many-requests", {"Retry-After": told})] * 9)
    with pytest.raises(Unavailable) as raised:
        await ask(api.client(retries=8).member, "bob")
    assert (len(api.requests), raised.value.retry_after) == (tries, int(told))


async def test_a_read_is_tried_again_too(api: ScriptedApi) -> None:
    api.answers(httpx.ReadTimeout("slow"), httpx.Response(200, json={"member_id": "bob", "accounts": []}))
    assert (await ask(api.client().member, "bob")).member_id == "bob"

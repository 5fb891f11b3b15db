"""The text and fields of the client's errors."""

import pickle
from uuid import UUID

import httpx
import pytest

from abacus_client import ApiError, FieldFault, Refused
from tests.client.asking import ask
from tests.client.scripted import ScriptedApi, problem

AWARD_ID = "0b3d0c1e-7c5b-5b0e-9f5e-3a2b1c0d9e8f"


async def _raised(api: ScriptedApi, answer: httpx.Response | httpx.RequestError) -> ApiError:
    api.answers(answer)
    with pytest.raises(ApiError) as raised:
        await ask(api.client(retries=0).award, "bob", country="SG", points=1, reason="Hi", idempotency_key="k-1")
    return raised.value


async def test_an_error_says_all_that_the_problem_says(api: ScriptedApi) -> None:
    faults = [{"pointer": "/country", "detail": "no such country"}, {"pointer": "/points", "detail": "too few"}]
    error = await _raised(api, problem(422, "invalid", errors=faults, something="new"))
    assert (error.status, error.type, error.title, error.detail) == (422, "invalid", "A title", "What happened")
    assert error.request_id == "6f1c0c4e7b0f4c52"
    assert error.errors == (FieldFault("/country", "no such country"), FieldFault("/points", "too few"))
    assert error.retry_after is None
    assert str(error) == "422 invalid: What happened (request 6f1c0c4e7b0f4c52)"


async def test_a_rejection_that_was_waited_for_names_the_award(api: ScriptedApi) -> None:
    error = await _raised(api, problem(403, "budget-exhausted", award_id=AWARD_ID))
    assert isinstance(error, Refused)
    assert error.award_id == UUID(AWARD_ID)


@pytest.mark.parametrize(
    ("answer", "type_", "text"),
    [
        (httpx.Response(502, text="<html>"), "about:blank", "502 about:blank: Bad Gateway"),
        (httpx.Response(599), "about:blank", "599 about:blank: An error that is not the API's"),
        (
            httpx.Response(400, text="[", headers={"Content-Type": "application/problem+json"}),
            "about:blank",
            "400 about:blank: Bad Request",
        ),
        (httpx.ConnectError("refused"), "no-answer", "no-answer: refused"),
        (httpx.ReadTimeout(""), "no-answer", "no-answer: ReadTimeout"),
        (httpx.LocalProtocolError("no"), "not-sent", "not-sent: no"),
    ],
)
async def test_where_the_api_said_nothing_the_error_still_says_what_is_known(
    api: ScriptedApi, answer: httpx.Response | httpx.RequestError, type_: str, text: str
) -> None:
    error = await _raised(api, answer)
    assert (error.type, str(error)) == (type_, text)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"status": "queued"}'])
async def test_a_success_that_cannot_be_read_is_an_error_with_the_key(api: ScriptedApi, body: bytes) -> None:
    error = await _raised(api, httpx.Response(202, content=body, headers={"X-Request-Id": "r-1"}))
    assert (type(error), error.type, error.status, error.request_id) == (ApiError, "unreadable", 202, "r-1")
    assert error.idempotency_key == "k-1"


async def test_an_error_survives_the_way_to_another_process(api: ScriptedApi) -> None:
    error = await _raised(api, problem(403, "country-not-allowed"))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    assert (type(again), again.problem, again.idempotency_key) == (Refused, error.problem, "k-1")

"""The contract with partners as documents: valid, kept by the reference partner, and its examples are what happens."""

import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final, NamedTuple
from uuid import uuid4

import orjson
import pytest
import pytest_asyncio
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from abacus.exchanges.decide.contract import CANCELLED, REFUSALS, Answer
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN
from abacus.exchanges.decide.programme import SignIn
from abacus.exchanges.decide.sign_in import FORM, authorize_url, client_header, token_in, token_request
from abacus.exchanges.decide.signing import signed_part
from abacus.platform.delivery.decide.signature import new_secret, signed_headers
from tests.support.partner_sim import Partner, partner_sim, today, transfer
from tests.support.paths import DOCS
from tests.support.receiver import receiving
from tests.support.sign_ins import oauth_part, signed_in
from tests.support.soon import soon

pytestmark = pytest.mark.once

DOCUMENT: Final[Mapping[str, Any]] = yaml.safe_load(
    (DOCS / "partners/exchange-contract.yaml").read_text(encoding="utf-8")
)
PAGE: Final = (DOCS / "partners/exchange-contract.md").read_text(encoding="utf-8")


@pytest_asyncio.fixture
async def partner() -> AsyncIterator[Partner]:
    async with partner_sim() as up:
        yield up


async def account_of_a_sign_in(partner: Partner, number: str) -> Answer:
    (back,) = (part := oauth_part(partner.url))["redirect_uris"][:1]
    returned = await signed_in(authorize_url(SignIn(**part), back, "state", "verifier"), number)
    headers = {"authorization": client_header(part["client_id"], partner.secret), "content-type": FORM}
    body = token_request(returned["code"], "verifier", back)
    token = token_in(await partner.line.ask("POST", "/oauth/token", headers, body))
    return await partner.line.ask("GET", "/oauth/account", {"authorization": f"Bearer {token}"})


def holds(schema: Mapping[str, Any], value: object) -> None:
    """Fails where a value is not as the contract has it."""
    rooted = {**schema, "components": DOCUMENT["components"]}
    errors = [error.message for error in Draft202012Validator(rooted).iter_errors(value)]
    assert errors == [], value


def check(method: str, path: str, answer: Answer) -> None:
    """Fails where the contract does not have such an answer."""
    responses = DOCUMENT["paths"][path][method.lower()]["responses"]
    response = responses.get(str(answer.status), responses["default"])
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]
    holds(response["content"][answer.media_type]["schema"], orjson.loads(answer.body))


def test_the_document_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_it_lists_the_refusals_that_the_house_takes_for_definite() -> None:
    assert DOCUMENT["components"]["schemas"]["RefusalType"]["enum"] == list(REFUSALS)
    assert re.findall(r"^\| `([a-z-]+)` \| ", PAGE, re.MULTILINE)[1:] == [*REFUSALS, CANCELLED]


async def test_the_answers_of_the_reference_partner_are_those_of_the_contract(partner: Partner) -> None:
    put, of_id = ("PUT", "/transfers/{id}"), "/transfers/{id}"
    asked, closed, pending = transfer(), transfer(CLOSED), transfer()
    seen: set[tuple[str, str, int]] = set()

    async def ask(method: str, path: str, template: str, document: object = None) -> None:
        answer = await partner.signed(method, path, document)
        check(method, template, answer)
        seen.add((method, template, answer.status))

    def body(number: str, amount: int = 500) -> object:
        return {
            "account": {"number": number},
            "amount": amount,
            "points": 1000,
            "programme": "skymiles@1",
            "asked_at": "2026-11-28T12:00:00Z",
        }

    for document in (body("12345678"), body("12345678"), body("12345678", 501), {}):
        await ask("PUT", f"/transfers/{asked.exchange_id}", put[1], document)
    await ask("PUT", f"/transfers/{closed.exchange_id}", put[1], body(CLOSED))
    await partner.behaves(slow=1, slow_s=1000)
    await ask("PUT", f"/transfers/{pending.exchange_id}", put[1], body("12345678"))
    await partner.behaves()
    for id_ in (asked.exchange_id, closed.exchange_id, pending.exchange_id, uuid4()):
        await ask("GET", f"/transfers/{id_}", of_id)
        await ask("POST", f"/transfers/{id_}/cancel", of_id + "/cancel")
        await ask("GET", f"/transfers/{id_}", of_id)
        await ask("POST", f"/transfers/{id_}/reverse", of_id + "/reverse")
    await ask("POST", f"/transfers/{uuid4()}/reverse", of_id + "/reverse")
    await ask("GET", f"/transfers/{asked.exchange_id}", of_id)
    await ask("POST", "/accounts/verify", "/accounts/verify", {"number": "1"})
    await ask("POST", "/accounts/verify", "/accounts/verify", {})
    for number in ("12345678", CLOSED, UNKNOWN):
        answer = await account_of_a_sign_in(partner, number)
        check("GET", "/oauth/account", answer)
        seen.add(("GET", "/oauth/account", answer.status))
    await ask("GET", f"/statement?date={today()}", "/statement")
    await ask("GET", "/statement", "/statement")
    answers = {
        (method, path, status)
        for path, item in DOCUMENT["paths"].items()
        for method, statuses in (
            (name.upper(), operation["responses"]) for name, operation in item.items() if name != "parameters"
        )
        for status in map(int, [status for status in statuses if status != "default"])
    }
    never = {("POST", of_id + "/cancel", 202), ("POST", of_id + "/reverse", 202)}  # it decides at once
    assert answers - never <= seen


async def test_its_callbacks_are_those_of_the_contract() -> None:
    async with receiving() as house, partner_sim(callbacks=f"http://127.0.0.1:{house.port}/") as partner:
        await partner.behaves(slow=1, slow_s=0)
        for number in ("12345678", CLOSED):
            await partner.port.put(transfer(number))
        await soon(lambda: len(house.requests) == 2)
    schema = DOCUMENT["webhooks"]["transfer"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    for request in house.requests:
        holds(schema, request.json)
    assert {request.json["type"] for request in house.requests} == {"transfer.credited", "transfer.rejected"}


# --- The page ---


class Example(NamedTuple):
    """A request, and its answer: `…` stands for any text."""

    method: str
    path: str
    body: object
    status: int
    media_type: str
    answer: object


def examples() -> Iterator[Example]:
    for block in re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL):
        asked, said = block.strip().split("\n\n")
        line, _, body = asked.partition("\n")
        head, _, answer = said.partition("\n")
        method, path = line.split()
        status, media_type = head.split()
        yield Example(method, path, json.loads(body) if body else None, int(status), media_type, json.loads(answer))


async def test_the_examples_of_the_page_are_what_happens(partner: Partner) -> None:
    played = 0
    for example in examples():
        answer = await partner.signed(example.method, example.path, example.body)
        assert (answer.status, answer.media_type) == (example.status, example.media_type), example.path
        said, told = orjson.loads(answer.body), example.answer
        assert isinstance(told, dict)
        assert {**said, **{name: "…" for name, value in told.items() if value == "…"}} == told, example.path
        path = re.sub(r"/transfers/[^/]+", "/transfers/{id}", example.path.partition("?")[0])
        check(example.method, path, answer)
        played += 1
    assert played == 11


def test_the_callback_of_the_page_is_one_of_the_contract() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    holds(DOCUMENT["components"]["schemas"]["Callback"], json.loads(block))


def test_the_code_of_the_page_verifies_our_requests() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # the documentation's example has to work
    verified, secret, body = names["verified"], new_secret(), b'{"amount":1}'
    headers = signed_headers([new_secret(), secret], "req_1", int(time.time()), signed_part("PUT", "/x/1", body))
    assert verified(secret, "PUT", "/x/1", headers, body)
    assert not verified(secret, "PUT", "/x/2", headers, body)
    assert not verified(secret, "POST", "/x/1", headers, body)
    assert not verified(secret, "PUT", "/x/1", headers, b"")
    assert not verified(new_secret(), "PUT", "/x/1", headers, body)

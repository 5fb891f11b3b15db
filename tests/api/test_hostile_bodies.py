"""Bodies that are made to cost much or to mean two things: refused, for no more work than a good body takes."""

import json
import time
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

import httpx
import pytest

from abacus.api.api_problem import ApiProblem
from abacus.api.json_body import MOST_MEMBERS, read_json
from tests.support.house import House
from tests.support.problems import kind
from tests.support.shop import GRANT, register, shop

pytestmark = pytest.mark.once

MIB: Final = 1024 * 1024
AS_MUCH_WORK: Final = 2.0  # times the work for a good body


def members(count: int, more: str = "") -> str:
    return "{" + ",".join(f'"k{number}":0' for number in range(count)) + more + "}"


def batch(item: str, count: int = 1000) -> bytes:
    return ('{"awards":[' + ",".join([item] * count) + "]}").encode()


# Each is as long as a body may be, or a batch of as many items as there may be.
COSTLY: Final[dict[str, bytes]] = {
    "170,000 unknown fields": members(150_000).encode(),
    "as many deep inside": ('{"a":[' + members(150_000) + "]}").encode(),
    "many objects that name a member twice": ("[" + ",".join(['{"a":1,"a":1}'] * 140_000) + "]").encode(),
    "a thousand items, each with a hundred faults": batch(members(MOST_MEMBERS)),
    "a thousand items of long names": batch('{"' + "x" * 2000 + '":1}'),
    "a million items": batch("0", 1_000_000),
    "two million brackets": b"[" * 2_000_000,
    "a number of two million digits": b'{"points":' + b"9" * 2_000_000 + b"}",
    "numbers of 4,300 digits": batch("9" * 4300, 480),
    "a fraction of two million digits": b'{"points":0.' + b"9" * 2_000_000 + b"}",
    "a string of two million characters": json.dumps({**GRANT, "member_id": "é" * 340_000}).encode(),
    "a reason of two million characters": json.dumps({**GRANT, "reason": "x" * 2_000_000}).encode(),
    "a country of two million escapes": b'{"country":"' + b"\\ud83d\\ude00" * 170_000 + b'"}',
    "a transaction of unknown fields": ('{"member_id":"bob","transaction":' + members(150_000) + "}").encode(),
}


@pytest.mark.long
async def test_refusing_a_hostile_body_is_no_more_work_than_a_good_one(house: House) -> None:
    """Work is counted as time of the processor, of caller and API together, and compared within this run."""
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))

        async def work(path: str, bodies: Sequence[bytes]) -> tuple[float, httpx.Response]:
            """The least of three, so that a neighbour on the machine does not count."""
            measured = []
            for body in bodies:
                began = time.process_time()
                answer = await acme.post(path, content=body, headers=_HEADERS)
                measured.append((time.process_time() - began, answer))
            return min(measured, key=itemgetter(0))

        good, taken = await work("/v1/awards/batch", [_good_batch(number) for number in range(3)])
        assert {each["outcome"] for each in taken.json()["results"]} == {"accepted"}
        for name, body in COSTLY.items():
            assert len(body) <= 2.1 * MIB, name
            for path in ("/v1/awards", "/v1/awards/batch"):
                spent, answer = await work(path, [body] * 3)
                assert spent < good * AS_MUCH_WORK, f"{name}: {spent:.2f} s; a good batch takes {good:.2f} s"
                assert answer.status_code in {200, 400, 413, 422}, (name, answer.text[:200])
                assert len(answer.content) < MIB, name


def _good_batch(number: int) -> bytes:
    items = [{"idempotency_key": f"{number}-{each}", **GRANT, "member_id": f"m{each}"} for each in range(1000)]
    return json.dumps({"awards": items}).encode()


_HEADERS: Final = {"Content-Type": "application/json", "Idempotency-Key": "k"}

# A body, and the pointer to the member that it names twice.
TWICE: Final = [
    (b'{"a":1,"a":1}', "/a"),
    (b'[{"x":{"b/c":1,"b/c":2}}]', "/0/x/b~1c"),
    (b'{"a":{"z":1,"z":1},"a":2}', "/a"),
    (b'{"\\u0061":1,"a":2}', "/a"),
    (b'{"awards":[1,[{}],{"k":[{"p":1,"p":1}]},{"q":1,"q":1}]}', "/awards/2/k/0/p"),
]


@pytest.mark.parametrize(("body", "pointer"), TWICE)
def test_a_member_that_stands_twice_is_refused_with_its_place(body: bytes, pointer: str) -> None:
    with pytest.raises(ApiProblem) as refused:
        read_json(body)
    assert (refused.value.kind, [each.pointer for each in refused.value.errors]) == ("invalid", [pointer])


def test_of_a_long_body_the_name_is_told_alone() -> None:
    with pytest.raises(ApiProblem, match="an object names 'points' twice"):
        read_json(b'{"pad":"' + b"x" * MIB + b'","points":1,"points":2}')


def test_an_object_has_a_limit_and_what_it_holds_has_none_of_its_own() -> None:
    assert len(read_json(members(MOST_MEMBERS).encode())) == MOST_MEMBERS
    with pytest.raises(ApiProblem, match=f"an object of {MOST_MEMBERS + 1} members"):
        read_json(members(MOST_MEMBERS + 1).encode())


async def test_two_meanings_are_refused_before_anything_is_awarded(house: House) -> None:
    body = b'{"member_id":"bob","country":"SG","points":1,"reason":"x","points":1000}'
    item = b'{"idempotency_key":"b",' + body[1:]
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        one = await acme.post("/v1/awards", content=body, headers=_HEADERS)
        many = await acme.post("/v1/awards/batch", content=b'{"awards":[' + item + b"]}", headers=_HEADERS)
        assert [(each.status_code, kind(each)) for each in (one, many)] == [(422, "invalid")] * 2
        assert [each.json()["errors"][0]["pointer"] for each in (one, many)] == ["/points", "/awards/0/points"]
        assert await house.pool.fetchval("select count(*) from partner_award") == 0


# Headers that stand twice, and whether that is refused.
HEADERS: Final[list[tuple[str, bool]]] = [
    ("Idempotency-Key", True),
    ("Authorization", True),
    ("Abacus-Signature", True),
    ("Abacus-Timestamp", True),
    ("Content-Type", True),
    ("Accept", False),
    ("X-Forwarded-For", False),
]


async def test_a_header_that_may_stand_once_and_stands_twice_is_refused(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house))
        for name, refused in HEADERS:
            given = httpx.Headers({**acme.headers, **_HEADERS})
            twice: Any = [*given.raw, (name.encode(), given.get(name, "x").encode())]
            if name not in given:
                twice.append((name.encode(), b"y"))
            async with httpx.AsyncClient(base_url=opened.url) as plain:
                answer = await plain.post("/v1/awards", json=None, content=json.dumps(GRANT), headers=twice)
            if refused:
                assert (answer.status_code, kind(answer)) == (400, "malformed"), name
                assert name.lower() in answer.json()["detail"]
            else:
                assert answer.status_code == 202, name

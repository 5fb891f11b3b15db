"""Posting to a receiver: only to the address that was judged, and any bytes that come back are an answer."""

import socket
import ssl
from collections.abc import Sequence

import pytest

from abacus.platform.delivery.decide.reply import MOST_SHOWN, Reply
from abacus.platform.delivery.post import Poster, Resolve
from tests.support.paths import ROOT
from tests.support.receiver import Receiver, receiving

PEM = ROOT / "tests/support/hooks.example.pem"  # made for these tests, for the name hooks.example


def standing_for(*addresses: str) -> Resolve:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if not addresses:
            raise socket.gaierror(-2, "Name or service not known")
        return addresses

    return resolve


async def posted(
    url: str, *addresses: str, to_private: bool = True, trust: ssl.SSLContext | None = None, within_s: float = 5
) -> Reply:
    poster = Poster(to_private=to_private, at_once=4, within_s=within_s, resolve=standing_for(*addresses), trust=trust)
    try:
        return await poster.post(url, {"webhook-id": "msg_1"}, b"{}")
    finally:
        await poster.close()


async def test_the_name_stays_on_the_request_and_the_connection_goes_to_the_address(receiver: Receiver) -> None:
    answer = await posted(f"http://hooks.example:{receiver.port}/a?b=c", "127.0.0.1")
    assert answer == Reply(204, "204")
    (request,) = receiver.requests
    assert request.line == "POST /a?b=c HTTP/1.1"
    assert request.headers["host"] == f"hooks.example:{receiver.port}"
    assert request.body == b"{}"


async def test_where_nobody_listens_the_next_address_is_tried(receiver: Receiver) -> None:
    answer = await posted(f"http://hooks.example:{receiver.port}/", "127.0.0.2", "127.0.0.1")
    assert answer.status == 204


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), ("8.8.8.8", "127.0.0.1"), ("169.254.169.254",), ("::1",), ("::ffff:127.0.0.1",)]
)
async def test_a_name_that_stands_for_a_private_address_is_not_called(
    receiver: Receiver, addresses: Sequence[str]
) -> None:
    answer = await posted(f"https://hooks.example:{receiver.port}/", *addresses, to_private=False)
    assert answer.status is None
    assert answer.detail == f"hooks.example: {addresses[-1]} is not an address of the public internet"
    assert receiver.requests == []


@pytest.mark.parametrize(("name", "status"), [("hooks.example", 204), ("other.example", None)])
async def test_the_certificate_is_checked_against_the_name(name: str, status: int | None) -> None:
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(PEM)
    names: list[str] = []
    own.sni_callback = lambda _socket, server_name, _context: names.append(server_name)
    trust = ssl.create_default_context(cafile=str(PEM))
    async with receiving(own) as receiver:
        answer = await posted(f"https://{name}:{receiver.port}/", "127.0.0.1", trust=trust)
    assert names == [name]
    assert answer.status == status
    assert len(receiver.requests) == (status is not None)


async def test_an_unknown_issuer_is_not_trusted() -> None:
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(PEM)
    async with receiving(own) as receiver:
        answer = await posted(f"https://hooks.example:{receiver.port}/", "127.0.0.1")
    assert answer.status is None
    assert "certificate verify failed" in answer.detail


LOCATION = "location: http://127.0.0.1:1/elsewhere"
ANSWERS = [
    (b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nbegins", (200, "200")),
    (b"HTTP/1.1 301 Moved\r\n" + LOCATION.encode() + b"\r\n\r\n", (301, "answered 301: redirects are not followed")),
    (b"HTTP/1.1 503 Busy\r\ncontent-length: 9\r\n\r\nnot\x00now\r\n", (503, "answered 503: not now")),
    (b"HTTP/1.1 500 Oops\r\n\r\n" + b"x" * 100_000, (500, "answered 500: " + "x" * 200)),
    (b"HTTP/1.1 410 Gone\r\ncontent-length: 5\r\n\r\nb", (410, "answered 410: b")),
    (b"HTTP/1.1 500 Oops\r\ncontent-encoding: gzip\r\n\r\nno gzip", (500, "answered 500: no gzip")),
    (b"", (None, "RemoteProtocolError: Server disconnected without sending a response.")),
]


@pytest.mark.parametrize(("answer", "outcome"), ANSWERS)
async def test_whatever_comes_back(receiver: Receiver, answer: bytes, outcome: tuple[int | None, str]) -> None:
    receiver.answer = answer
    assert (await posted(receiver.url, "127.0.0.1"))[:2] == outcome
    assert len(receiver.requests) == 1


NO_ANSWERS = [
    b"no http\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n",
    b"HTTP/1.1 " + b"z" * 90_000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"w" * 90_000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("answer", NO_ANSWERS, ids=range(len(NO_ANSWERS)))
async def test_what_is_no_answer(receiver: Receiver, answer: bytes) -> None:
    receiver.answer = answer
    reply = await posted(receiver.url, "127.0.0.1")
    assert reply.status is None
    assert 0 < len(reply.detail.encode()) <= MOST_SHOWN


async def test_a_long_wait_that_a_receiver_demands_is_cut(receiver: Receiver) -> None:
    receiver.answer = b"HTTP/1.1 429 Slow\r\ncontent-length: 0\r\nretry-after: " + b"9" * 60_000 + b"\r\n\r\n"
    reply = await posted(receiver.url, "127.0.0.1")
    assert len(reply.retry_after or "") == MOST_SHOWN


async def test_a_name_that_nobody_knows() -> None:
    answer = await posted("https://hooks.example/")
    assert answer == Reply(None, "hooks.example: [Errno -2] Name or service not known")


async def test_an_answer_that_does_not_come(receiver: Receiver) -> None:
    receiver.goes_on.clear()
    assert await posted(receiver.url, "127.0.0.1", within_s=0.2) == Reply(None, "no answer within 0.2 s")

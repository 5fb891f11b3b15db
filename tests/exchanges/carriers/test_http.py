"""A partner with a server, asked over HTTP: the reference partner, and servers that are not what they should be."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
import pytest_asyncio

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.carriers.http import HttpPartner, SecretsOf
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.decide.invented_accounts import CLOSED, NEAR, UNKNOWN
from abacus.exchanges.types import Account, Match
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.decide.circuit import Patience
from tests.support.partner_sim import Partner, partner_sim, today, transfer
from tests.support.paths import ROOT
from tests.support.receiver import Receiver, receiving

pytestmark = pytest.mark.once

PEM = ROOT / "tests/support/hooks.example.pem"  # made for these tests, for the name hooks.example


@pytest_asyncio.fixture
async def partner() -> AsyncIterator[Partner]:
    async with partner_sim() as up:
        yield up


async def test_a_transfer_is_credited_once_under_its_id(partner: Partner) -> None:
    asked = transfer(amount=500)
    said = [await partner.port.put(asked) for _ in range(3)]
    assert said == 3 * [Credited(500, said[0].reference)] if isinstance(said[0], Credited) else False
    assert await partner.port.get(asked.exchange_id) == said[0]
    assert await partner.port.cancel(asked.exchange_id) == said[0]
    assert isinstance(await partner.port.put(asked._replace(amount=501)), OtherFacts)
    assert await partner.balance(asked.account.number) == 500


async def test_a_refusal_and_a_tombstone_are_for_ever(partner: Partner) -> None:
    refused, never_sent = transfer(CLOSED), transfer()
    for _ in range(2):
        assert isinstance(await partner.port.put(refused), Rejected)
    assert await partner.port.get(never_sent.exchange_id) == NotKnown()
    assert await partner.port.cancel(never_sent.exchange_id) == Cancelled()
    assert await partner.port.put(never_sent) == Cancelled()
    assert (await partner.ledger())["accounts"] == []


async def test_what_was_credited_is_taken_back_once(partner: Partner) -> None:
    asked = transfer(amount=500)
    await partner.port.put(asked)
    assert [await partner.port.reverse(asked.exchange_id) for _ in range(2)] == 2 * [TakenBack()]
    assert await partner.balance(asked.account.number) == 0
    refused = transfer(CLOSED)
    await partner.port.put(refused)
    assert isinstance(await partner.port.reverse(refused.exchange_id), NotTakenBack)
    assert await partner.port.reverse(uuid4()) == NotKnown()


async def test_an_account_is_verified(partner: Partner) -> None:
    numbers = ("12345678", NEAR, UNKNOWN, CLOSED)
    said = [await partner.port.verify(Account(number, "Ann Lee")) for number in numbers]
    assert said == [Match.MATCH, Match.NEAR, Match.NONE, Match.CLOSED]


async def test_a_statement_tells_each_change_of_a_day(partner: Partner) -> None:
    asked, refused, cancelled = transfer(amount=500), transfer(CLOSED), uuid4()
    await partner.port.put(asked)
    await partner.port.put(refused)
    await partner.port.cancel(cancelled)
    await partner.port.reverse(asked.exchange_id)
    statement = await partner.port.statement(today())
    assert not statement.complete
    assert [(each.id, each.state.value, each.amount) for each in statement.lines] == [
        (str(asked.exchange_id), "credited", 500),
        (str(refused.exchange_id), "rejected", 0),
        (str(cancelled), "cancelled", 0),
        (str(asked.exchange_id), "reversed", 500),
    ]
    assert (await partner.port.statement(today() - timedelta(days=1))).complete
    await partner.behaves(wrong_sums=True)
    with pytest.raises(Refused, match="points are credited, and its lines have 500"):
        await partner.port.statement(today())


@pytest.mark.parametrize("behaviour", [{"cuts": 1}, {"fails_after": 1}])
async def test_an_answer_that_is_lost_is_silence_and_the_credit_stands(
    partner: Partner, behaviour: dict[str, float]
) -> None:
    asked = transfer(amount=500)
    await partner.behaves(**behaviour)
    assert isinstance(await partner.port.put(asked), Silence)
    await partner.behaves()
    assert isinstance(await partner.port.put(asked), Credited)
    assert await partner.balance(asked.account.number) == 500


async def test_a_signature_serves_no_other_request(partner: Partner) -> None:
    other = HttpPartner("partner", partner.line, _secrets(new_secret()), SystemClock(), Breaker("partner"))
    heard = await other.put(transfer())
    assert isinstance(heard, Silence)
    assert heard.why.startswith("answered 401 bad-signature")
    both = HttpPartner("partner", partner.line, _secrets(new_secret(), partner.secret), SystemClock(), Breaker("p"))
    assert isinstance(await both.put(transfer()), Credited)


async def test_many_are_asked_over_connections_that_are_kept(partner: Partner) -> None:
    assert partner.port.room() > 200
    said = await asyncio.gather(*[partner.port.put(transfer()) for _ in range(200)])
    assert {type(each) for each in said} == {Credited}


# --- Servers that are not what they should be ---


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as open_:
        yield open_


def _secrets(*secrets: str) -> SecretsOf:
    async def secrets_of() -> Sequence[str]:
        return secrets

    return secrets_of


async def heard_from(line: Line, breaker: Breaker | None = None, within_s: float = 5) -> object:
    port = HttpPartner(
        "partner", line, _secrets(new_secret()), SystemClock(), breaker or Breaker("partner"), within_s=within_s
    )
    try:
        return await port.put(transfer())
    finally:
        await line.close()


def line_to(receiver: Receiver) -> Line:
    return Line(f"http://127.0.0.1:{receiver.port}/exchange/", to_private=True, at_once=2)


NO_ANSWERS = [
    (b"", "the connection was cut before an answer came"),
    (b"no http\r\n\r\n", "what came is no HTTP"),
    (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
        "the connection was cut within the answer",
    ),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n" + b"x" * 200_000, "answered with more than 65,536 bytes"),
    (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n", "what came is no HTTP"),
    (b"HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "answered 307"),
    (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc", "answered 200 as nothing"),
]


@pytest.mark.parametrize(("answer", "why"), NO_ANSWERS, ids=[why for _, why in NO_ANSWERS])
async def test_whatever_comes_back_is_silence(receiver: Receiver, answer: bytes, why: str) -> None:
    receiver.answer = answer
    heard = await heard_from(line_to(receiver))
    assert isinstance(heard, Silence)
    assert heard.why.startswith(why), heard.why


async def test_an_answer_that_does_not_come_is_silence(receiver: Receiver) -> None:
    receiver.goes_on.clear()
    assert await heard_from(line_to(receiver), within_s=0.1) == Silence("no answer within 0.1 s")
    receiver.goes_on.set()


async def test_a_partner_that_fails_again_and_again_is_left_alone(receiver: Receiver) -> None:
    receiver.answers("503 Busy")
    now_s = [0.0]
    breaker = Breaker("partner", Patience(failures=2, first_s=60, longest_s=60), clock_s=lambda: now_s[0])
    for _ in range(2):
        assert await heard_from(line_to(receiver), breaker) == Silence("answered 503")
    silence = await heard_from(line_to(receiver), breaker)
    assert silence == Silence("partner unavailable: it is left alone for a while: answered 503", 60)
    assert len(receiver.requests) == 2
    left_alone = HttpPartner("partner", line_to(receiver), _secrets(new_secret()), SystemClock(), breaker)
    assert left_alone.room() == 0
    now_s[0] = 60
    assert left_alone.room() == 1


async def test_secrets_that_cannot_be_read_are_silence(receiver: Receiver) -> None:
    async def secrets() -> Sequence[str]:
        raise Unavailable("secrets", "the key is away")

    line = line_to(receiver)
    port = HttpPartner("partner", line, secrets, SystemClock(), Breaker("partner"))
    assert await port.put(transfer()) == Silence("secrets unavailable: the key is away")
    with pytest.raises(Unavailable):
        await port.verify(Account("1"))
    await line.close()
    assert receiver.requests == []


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("8.8.8.8", "127.0.0.1"), ("169.254.169.254",), ("::1",)])
async def test_a_name_that_stands_for_a_private_address_is_not_asked(
    receiver: Receiver, addresses: Sequence[str]
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    line = Line(f"https://partner.example:{receiver.port}", to_private=False, at_once=2, resolve=resolve)
    heard = await heard_from(line)
    assert isinstance(heard, Silence)
    assert f"{addresses[-1]} is not an address of the public internet" in heard.why
    assert receiver.requests == []


async def test_a_name_that_nobody_knows_is_silence() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    heard = await heard_from(Line("https://partner.example", to_private=False, at_once=2, resolve=resolve))
    assert isinstance(heard, Silence)
    assert "Name or service not known" in heard.why


@pytest.mark.parametrize(("name", "is_asked"), [("hooks.example", True), ("other.example", False)])
async def test_the_certificate_is_checked_against_the_name(name: str, is_asked: bool) -> None:  # noqa: FBT001  # a case
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(PEM)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with receiving(own) as receiver:
        receiver.answers("503 Busy")
        url, trust = f"https://{name}:{receiver.port}", ssl.create_default_context(cafile=str(PEM))
        heard = await heard_from(Line(url, to_private=True, at_once=2, resolve=resolve, trust=trust))
    assert isinstance(heard, Silence)
    assert (heard.why == "answered 503") is is_asked, heard.why
    assert len(receiver.requests) == is_asked


@pytest.mark.parametrize("url", ["http://partner.example", "https://127.0.0.1", "https://partner.example/?a=b"])
def test_an_address_that_may_not_be(url: str) -> None:
    with pytest.raises(Refused):
        Line(url, to_private=False, at_once=2)


async def test_the_paths_of_the_contract_are_put_behind_the_address(receiver: Receiver) -> None:
    receiver.answers("503 Busy")
    await heard_from(line_to(receiver))
    (request,) = receiver.requests
    assert request.line.startswith("PUT /exchange/transfers/")

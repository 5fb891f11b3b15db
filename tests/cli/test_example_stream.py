"""The demo's stream: the same each time, and with every misfortune that Abacus has an answer to."""

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

import pytest

from abacus.cli.examples import example_cards
from abacus.cli.examples.stream import NAMED, TIERS, Sent, stream
from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.ledger.types.port import Status
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from tests.support.fixed_clock import FixedClock
from tests.support.memory_ledger import MemoryLedger

MANY = 6000
CALCULATOR = Calculator(CardBook([PublishedCard(card, 1) for card in example_cards()]))
TIER = {(member, program): tier for member, program, tier in TIERS}


class Fate(NamedTuple):
    """The fate of a message: the key of its award, if it has one, and its status or the reason why it was set aside."""

    sent: Sent
    key: str | None
    said: Status | Reason


async def fates(messages: list[Sent], ledger: MemoryLedger) -> list[Fate]:
    told: list[Fate] = []
    for sent in messages:
        try:
            transaction = read_transaction(sent.value)
            card = CALCULATOR.card_for(transaction)
            tier = TIER.get((transaction.member_id, card.card.program), "member")
            award = CALCULATOR.award(transaction, card, tier)
        except SetAside as fault:
            told.append(Fate(sent, None, fault.reason))
            continue
        assert award is not None, "every type in the stream earns"
        (outcome,) = await ledger.post([award])
        told.append(Fate(sent, award.key, outcome.status))
    return told


@pytest.fixture(scope="module")
def messages() -> list[Sent]:
    return list(stream(MANY))


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger(FixedClock(datetime(2026, 6, 1, tzinfo=UTC)))


def test_the_same_stream_each_time(messages: list[Sent]) -> None:
    assert list(stream(MANY)) == messages


@pytest.mark.parametrize("transactions", [0, 1, 100])
def test_a_shorter_stream_is_the_beginning_of_a_longer_one(messages: list[Sent], transactions: int) -> None:
    assert list(stream(transactions)) == list(islice(messages, transactions + NAMED))


async def test_bob_and_jane_earn_what_the_golden_cases_say(messages: list[Sent], ledger: MemoryLedger) -> None:
    await fates(messages[:NAMED], ledger)
    assert [(transfer.member_id, transfer.points) for transfer in ledger.transfers] == [
        ("bob", 180),
        ("jane", 60),
        ("eve", 320),
    ]


async def test_every_message_comes_to_what_it_says(messages: list[Sent], ledger: MemoryLedger) -> None:
    for fate in await fates(messages, ledger):
        if fate.sent.award is None:
            assert isinstance(fate.said, Reason) or fate.said is Status.CONFLICT, fate
        else:
            assert fate.key == fate.sent.award
            assert fate.said in (Status.POSTED, Status.DUPLICATE), fate
    assert set(ledger.claims) == {sent.award for sent in messages if sent.award}


@pytest.mark.long
async def test_every_kind_of_misfortune_is_in_it(messages: list[Sent], ledger: MemoryLedger) -> None:
    said = Counter(fate.said for fate in await fates(messages, ledger))
    assert set(said) == {
        Status.POSTED,
        Status.DUPLICATE,
        Status.CONFLICT,
        Reason.UNKNOWN_VERTICAL,
        Reason.UNKNOWN_COUNTRY,
        Reason.UNKNOWN_CURRENCY,
        Reason.UNKNOWN_PAYMENT_TYPE,
        Reason.INVALID,
        Reason.UNDECODABLE,
    }
    bad = sum(count for what, count in said.items() if what not in (Status.POSTED, Status.DUPLICATE))
    assert 0.005 < bad / MANY < 0.02
    assert 0.02 < said[Status.DUPLICATE] / MANY < 0.04
    late = [sent for sent in messages if sent.award and json.loads(sent.value)["occurred_at"] < "2026-05-01"]
    assert 0.03 < len(late) / MANY < 0.07


def test_messages_are_keyed_by_their_member(messages: list[Sent]) -> None:
    for sent in messages:
        if sent.award is not None:
            assert sent.key.decode() == json.loads(sent.value)["member_id"]

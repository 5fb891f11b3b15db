"""The messages of a run: the same each time for a seed, each with the fate that it has to have. Pure.

There are duplicates, written the same or otherwise; other facts under the same key; late ones; bad ones; events that no
card lists; and refunds, some before their transaction. The worth of each is worked out here, with nothing of the
pipeline but the calculation itself.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.cli.examples import example_cards
from abacus.core.errors import Reason
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import Refunded, read_transaction
from abacus.ledger.types.award_envelope import Award
from abacus.platform.kafka.publisher import StreamMessage
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard, RateCard
from abacus.programs.expiry.decide.month import Month

MEMBERS: Final = 2_500
_HOT: Final = 20  # members with a good part of everything
_HOT_SHARE: Final = 0.15
_SLEEPS: Final = 5  # every so manieth member was active only where it lapses with the month in question
_EARLIEST: Final = datetime(2020, 1, 1, tzinfo=UTC)
_RECENT: Final = 2_000

_DUPLICATE, _OTHERWISE, _CONFLICT, _BAD, _EVENT, _REFUND, _EARLY = 0.03, 0.01, 0.01, 0.02, 0.02, 0.02, 0.01
_LATE: Final = 0.05
_AMOUNTS: Final = {"SGD": 14, "IDR": 85_000, "THB": 180, "VND": 120_000, "PHP": 320, "MYR": 22}
_LISTED: Final = "booking.cancelled_by_driver"


class Awarded(NamedTuple):
    """An award, posted under its key for these facts; set aside where other facts have the key before it."""

    key: str
    fingerprint: str
    member_id: str
    program: str
    points: int


class TakenBack(NamedTuple):
    """A refund, posted under its key: so much of the transaction `of`, which came to `whole`."""

    key: str
    fingerprint: str
    of: str
    amount: Decimal
    whole: Decimal


class Aside(NamedTuple):
    """A message that is set aside, alone."""

    reason: Reason


class Ignored(NamedTuple):
    """A message that nothing comes of."""


Fate = Awarded | TakenBack | Aside | Ignored


def cards() -> list[RateCard]:
    """The example cards, in force for so long that late messages have one too."""
    return [replace(card, effective_from=_EARLIEST) for card in example_cards()]


@dataclass(frozen=True)
class Workload:
    """Messages in the order of sending, and the fate of each body."""

    messages: Sequence[StreamMessage]
    fates: Mapping[bytes, Fate]


@dataclass
class _Made:
    """Fates and transactions so far. A kept transaction is contradicted or refunded, never both."""

    fates: dict[bytes, Fate] = field(default_factory=dict)
    recent: list[dict[str, Any]] = field(default_factory=list)
    refundable: list[dict[str, Any]] = field(default_factory=list)
    refunds: list[StreamMessage] = field(default_factory=list)


def workload(seed: int, messages: int, today: datetime, lapsing: Month) -> Workload:
    """So many messages of transactions up to `today`; every fifth member's lapse with the end of `lapsing`."""
    maker = _Maker(random.Random(seed), today, lapsing)
    sent = list(maker.messages(messages))
    return Workload(sent, maker.made.fates)


class _Maker:
    def __init__(self, rng: random.Random, today: datetime, lapsing: Month) -> None:
        self.made = _Made()
        self._rng = rng
        self._today = datetime.combine(today.astimezone(UTC).date(), time(), UTC)
        self._lapsing = lapsing
        self._calculator = calculator_by(cards())
        self._cards = {card.scope: card for card in cards()}
        self._number = 0

    def messages(self, count: int) -> Iterator[StreamMessage]:
        waiting: list[tuple[int, dict[str, Any]]] = []  # transactions whose refund went ahead of them
        for at in range(count):
            if waiting and (waiting[0][0] <= at or at >= count - len(waiting)):
                yield self._awarded(waiting.pop(0)[1])
                continue
            kind, left = self._rng.random(), count - at - len(waiting)
            if kind < _EARLY and left > 1:
                late = self._transaction()
                yield self._refund(late)
                waiting.append((at + self._rng.randint(1, 400), late))
                waiting.sort(key=lambda each: each[0])
            else:
                yield self._one((kind - _EARLY) / (1 - _EARLY))

    def _one(self, chance: float) -> StreamMessage:
        made = self.made
        for share, make in (
            (_DUPLICATE, self._again),
            (_OTHERWISE, self._written_otherwise),
            (_CONFLICT, self._contradiction),
            (_REFUND, self._refund_of_one),
        ):
            if chance < share:
                return make() if made.recent and made.refundable else self._fresh()
            chance -= share
        if chance < _BAD:
            return self._bad()
        if chance < _BAD + _EVENT:
            return self._event()
        return self._fresh()

    def _fresh(self) -> StreamMessage:
        transaction = self._transaction()
        made = self.made
        kept = made.recent if self._rng.random() < 0.5 else made.refundable
        kept.append(transaction)
        del kept[:-_RECENT]
        return self._awarded(transaction)

    def _again(self) -> StreamMessage:
        if self.made.refunds and self._rng.random() < 0.2:
            return self._rng.choice(self.made.refunds)
        return _message(self._rng.choice(self.made.recent))

    def _written_otherwise(self) -> StreamMessage:
        known = self._rng.choice(self.made.recent)
        moment = datetime.fromisoformat(known["occurred_at"]).astimezone(UTC)
        amount = f"{known['amount']}{'0' if '.' in known['amount'] else '.0'}"
        return self._awarded({**known, "amount": amount, "occurred_at": moment.isoformat()})

    def _contradiction(self) -> StreamMessage:
        known = self._rng.choice(self.made.recent)
        other = self._transaction()
        changes = self._rng.choice(("amount", "occurred_at", "member_id")), "payment_type"
        amount = str(Decimal(known["amount"]) + 1) if "amount" in changes else known["amount"]
        changed = {name: other[name] for name in changes}
        return self._awarded({**known, **changed, "amount": amount})

    def _refund_of_one(self) -> StreamMessage:
        return self._refund(self._rng.choice(self.made.refundable))

    def _refund(self, transaction: dict[str, Any]) -> StreamMessage:
        self._number += 1
        whole = Decimal(transaction["amount"])
        part = self._rng.choice((Decimal(1), Decimal("0.5"), Decimal("0.25")))
        refund = {
            **transaction,
            "type": "transaction.refunded",
            "refund_id": f"R-{self._number:07}",
            "amount": str((whole * part).quantize(whole) or whole),
        }
        message = _message(refund)
        if self._rng.random() < 0.05 and transaction in self.made.refundable:
            message = _message({**refund, "member_id": "somebody-else"})
            self.made.fates[message.value] = Aside(Reason.INVALID)
            return message
        read = read_transaction(message.value)
        assert isinstance(read, Refunded)
        fate = TakenBack(read.key, read.fingerprint, read.refunds, Decimal(read.amount), whole)
        self.made.fates[message.value] = fate
        self.made.refunds.append(message)
        return message

    def _event(self) -> StreamMessage:
        listed = self._rng.random() < 0.5
        event = {**self._transaction(), "type": _LISTED if listed else "booking.rated"}
        if listed:
            return self._awarded(event)
        message = _message(event)
        self.made.fates[message.value] = Ignored()
        return message

    def _bad(self) -> StreamMessage:
        good = self._transaction()
        faults: tuple[tuple[dict[str, Any] | bytes, Reason], ...] = (
            (b'{"type": "transaction.completed", "sour%d' % self._number, Reason.UNDECODABLE),
            (b"\xff\x00\xfe garbage %d" % self._number, Reason.UNDECODABLE),
            ({**good, "country": "XX"}, Reason.UNKNOWN_COUNTRY),
            ({**good, "currency": "EUR"}, Reason.UNKNOWN_CURRENCY),
            ({**good, "vertical": "yachts"}, Reason.UNKNOWN_VERTICAL),
            ({**good, "payment_type": "barter"}, Reason.UNKNOWN_PAYMENT_TYPE),
            ({**good, "amount": "-5.00"}, Reason.INVALID),
            ({name: value for name, value in good.items() if name != "member_id"}, Reason.INVALID),
            ({**good, "occurred_at": "2019-05-01T12:00:00+08:00"}, Reason.NO_CARD_IN_FORCE),
            ({**good, "occurred_at": "2099-05-01T12:00:00+08:00"}, Reason.IN_THE_FUTURE),
        )
        body, reason = self._rng.choice(faults)
        message = StreamMessage(good["member_id"].encode(), body) if isinstance(body, bytes) else _message(body)
        self.made.fates[message.value] = Aside(reason)
        return message

    def _awarded(self, transaction: dict[str, Any]) -> StreamMessage:
        message = _message(transaction)
        self.made.fates[message.value] = _fate_of(award_of(message, self._calculator))
        return message

    def _transaction(self) -> dict[str, Any]:
        rng = self._rng
        self._number += 1
        card = self._cards[rng.choice(tuple(self._cards))]
        member = rng.randrange(_HOT) if rng.random() < _HOT_SHARE else rng.randrange(MEMBERS)
        places = 0 if card.currency in {"IDR", "VND"} else 2
        amount = Decimal(_AMOUNTS[card.currency]) * rng.randint(20, 400) / 100
        return {
            "type": "transaction.completed",
            "source": rng.choice(("rides", "meals", "mart", "express")),
            "transaction_id": f"T-{self._number:07}",
            "member_id": f"m{member:05}",
            "country": card.scope,
            "vertical": rng.choice(tuple(card.verticals)),
            "payment_type": rng.choice(tuple(card.payment_types)),
            "amount": str(amount.quantize(Decimal(1).scaleb(-places))),
            "currency": card.currency,
            "occurred_at": self._moment(card, sleeps=is_sleeper(member)).astimezone(card.zone).isoformat(),
        }

    def _moment(self, card: RateCard, *, sleeps: bool) -> datetime:
        rng = self._rng
        if sleeps:
            first = self._lapsing
            for _ in range(card.expiry_months):
                first = first.before
            start = datetime.combine(first.first_day, time(), UTC) + timedelta(days=9)
            return start + timedelta(seconds=rng.randrange(10 * 86_400))
        ago = timedelta(days=rng.randint(5, 60)) if rng.random() < _LATE else timedelta()
        return self._today - ago - timedelta(seconds=rng.randrange(86_400))


def calculator_by(priced_by: Iterable[RateCard]) -> Calculator:
    return Calculator(CardBook(PublishedCard(card, 1) for card in priced_by))


def award_of(message: StreamMessage, calculator: Calculator) -> Award:
    """The award for a good transaction, or for a listed event."""
    read = read_transaction(message.value)
    award = calculator.award(read, calculator.card_for(read), BASE_TIER)
    assert award is not None
    return award


def awarded(messages: Iterable[StreamMessage], calculator: Calculator) -> dict[bytes, Fate]:
    """The fates of such messages."""
    return {message.value: _fate_of(award_of(message, calculator)) for message in messages}


def _fate_of(award: Award) -> Awarded:
    return Awarded(award.key, award.fingerprint, award.member_id, award.program, award.points)


def is_sleeper(member: int) -> bool:
    return member % _SLEEPS == _SLEEPS - 1


def _message(transaction: dict[str, Any]) -> StreamMessage:
    return StreamMessage(transaction.get("member_id", "").encode(), json.dumps(transaction).encode())

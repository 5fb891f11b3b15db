"""The incoming messages: good, doubled, contradictory, late and bad ones, the same for the same seed."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from abacus.core.errors import Reason
from abacus.platform.kafka.publisher import StreamMessage
from tests.reliability.simulation.oracle import COMPLETED, Aside, Document, Ignored, Verdict, earns

START: Final = datetime(2026, 5, 1, 3, tzinfo=UTC)

CURSED: Final = "cursed"  # a member that the ledger's store refuses

_MEMBERS: Final = ("bob", "jane", "mel", "ann", "kim")
_AMOUNTS: Final = {"SG": ("SGD", 2, 9_000), "ID": ("IDR", 0, 900_000), "TH": ("THB", 2, 90_000)}
_OFFSETS: Final = {"SG": 8, "ID": 7, "TH": 7}
_EVENTS: Final = ("booking.cancelled_by_driver", "survey.answered", "profile.updated")


@dataclass(frozen=True)
class Sent:
    """A message on the transactions topic, the time at which it gets there, and the outcome that it must have."""

    at_s: float
    message: StreamMessage
    verdict: Verdict


Spoil = Callable[[Document], bytes]


def _changed(**changes: Any) -> Spoil:
    return lambda document: json.dumps({**document, **changes}).encode()


def _without(name: str) -> Spoil:
    return lambda document: json.dumps({key: value for key, value in document.items() if key != name}).encode()


# The fault of a message, and the reason for which it must be set aside. The member `zoe` has a tier without a price.
BAD: Final[Mapping[str, tuple[Spoil, Reason]]] = {
    "half a message": (lambda document: json.dumps(document).encode()[:-9], Reason.UNDECODABLE),
    "not UTF-8": (lambda _: b'{"type": "\xff\xfe"}', Reason.UNDECODABLE),
    "empty": (lambda _: b"", Reason.UNDECODABLE),
    "far too large": (_changed(note="x" * 70_000), Reason.UNDECODABLE),
    "not an object": (lambda _: b"[1, 2]", Reason.INVALID),
    "no member": (_without("member_id"), Reason.INVALID),
    "no time": (_without("occurred_at"), Reason.INVALID),
    "a negative amount": (_changed(amount="-5.00"), Reason.INVALID),
    "a float": (_changed(amount=5.25), Reason.INVALID),
    "a time without an offset": (_changed(occurred_at="2026-05-01T12:00:00"), Reason.INVALID),
    "a country without a card": (_changed(country="XX"), Reason.UNKNOWN_COUNTRY),
    "before the first card": (_changed(occurred_at="2025-12-31T12:00:00+08:00"), Reason.NO_CARD_IN_FORCE),
    "a vertical without a price": (_changed(vertical="yachts"), Reason.UNKNOWN_VERTICAL),
    "a payment type without a price": (_changed(payment_type="barter"), Reason.UNKNOWN_PAYMENT_TYPE),
    "another currency": (_changed(currency="EUR"), Reason.UNKNOWN_CURRENCY),
    "a tier without a price": (_changed(member_id="zoe", country="SG", currency="SGD"), Reason.UNKNOWN_TIER),
    "a gigantic amount": (
        _changed(amount="999999999999999", country="SG", currency="SGD", vertical="food"),
        Reason.OUT_OF_RANGE,
    ),
    "of a time to come": (_changed(occurred_at="2099-05-01T12:00:00+08:00"), Reason.IN_THE_FUTURE),
    "a member whom the store refuses": (_changed(member_id=CURSED), Reason.UNPOSTABLE),
}


def workload(seed: int, lasting_s: float) -> list[Sent]:
    """Sixty to a hundred and fifty messages in the order in which they are produced."""
    return _Writer(random.Random(f"workload {seed}"), lasting_s).write()


class _Writer:
    def __init__(self, chance: random.Random, lasting_s: float) -> None:
        self._chance = chance
        self._lasting_s = lasting_s
        self._good: list[Document] = []
        self._bad = list(BAD.values())
        chance.shuffle(self._bad)

    def write(self) -> list[Sent]:
        number_of = self._chance.randint(60, 150)
        times = sorted(self._chance.uniform(0, self._lasting_s) for _ in range(number_of))
        return [self._next(number, at_s) for number, at_s in enumerate(times)]

    def _next(self, number: int, at_s: float) -> Sent:
        kind = self._chance.random()
        if kind < 0.15:
            spoil, reason = self._bad[number % len(self._bad)]
            document = self._transaction(number)
            return self._sent(at_s, document, spoil(document), Aside(reason))
        if kind < 0.25 and self._good:
            return self._good_one(at_s, self._contradicted(self._chance.choice(self._good)))
        if kind < 0.45 and self._good:
            return self._good_one(at_s, self._rewritten(self._chance.choice(self._good)))
        document = self._event(number) if kind < 0.55 else self._transaction(number)
        if not isinstance(earns(document), Ignored):
            self._good.append(document)
        return self._good_one(at_s, document)

    def _good_one(self, at_s: float, document: Document) -> Sent:
        return self._sent(at_s, document, json.dumps(document).encode(), earns(document))

    def _sent(self, at_s: float, document: Document, value: bytes, verdict: Verdict) -> Sent:
        return Sent(at_s, StreamMessage(document["member_id"].encode(), value), verdict)

    def _transaction(self, number: int) -> Document:
        country = self._chance.choice(tuple(_AMOUNTS))
        currency, places, most = _AMOUNTS[country]
        amount = self._chance.randint(0, most)
        return {
            **self._event(number, country),
            "type": COMPLETED,
            "vertical": self._chance.choice(("food", "rides")),
            "payment_type": self._chance.choice(("wallet", "cash")),
            "amount": f"{amount // 100}.{amount % 100:02}" if places else str(amount),
            "currency": currency,
        }

    def _event(self, number: int, country: str = "SG") -> Document:
        """A transaction that has just happened; now and then one under last month's card."""
        ago = timedelta(seconds=self._chance.randint(0, 600))
        if self._chance.random() < 0.15:
            ago = timedelta(days=self._chance.randint(1, 110))
        zone = timezone(timedelta(hours=_OFFSETS[country]))
        return {
            "type": self._chance.choice(_EVENTS),
            "source": self._chance.choice(("rides", "meals")),
            "transaction_id": f"T-{number}",
            "member_id": self._chance.choice(_MEMBERS),
            "country": country,
            "occurred_at": (START - ago).astimezone(zone).isoformat(),
        }

    def _contradicted(self, document: Document) -> Document:
        """The same key, other facts."""
        return {**document, **self._chance.choice(_contradictions(document))}

    def _rewritten(self, document: Document) -> Document:
        """The same facts, as they were written or in other words."""
        instant = datetime.fromisoformat(document["occurred_at"])
        rewritings: list[Document] = [
            {},
            {},
            {"occurred_at": instant.astimezone(UTC).isoformat()},
            {"note": "sent again"},
        ]
        if "." in document.get("amount", ""):
            rewritings.append({"amount": f"0{document['amount']}0"})
        return {**document, **self._chance.choice(rewritings)}


def _contradictions(document: Document) -> list[Document]:
    another = next(member for member in _MEMBERS if member != document["member_id"])
    earlier = datetime.fromisoformat(document["occurred_at"]) - timedelta(seconds=1)
    contradictions: list[Document] = [{"member_id": another}, {"occurred_at": earlier.isoformat()}]
    if document["type"] == COMPLETED:
        country = "TH" if document["country"] == "SG" else "SG"
        contradictions += [
            {"amount": "7"},
            {"country": country, "currency": _AMOUNTS[country][0]},
            {"vertical": "food" if document["vertical"] == "rides" else "rides"},
            {"payment_type": "cash" if document["payment_type"] == "wallet" else "wallet"},
        ]
    return contradictions

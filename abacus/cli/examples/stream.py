"""A stream of plausible transactions, the same each time, with duplicates, late ones and bad ones. Pure."""

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.core.ids import refund_key, transaction_key

_START: Final = datetime(2026, 5, 9, tzinfo=UTC)
_SEED: Final = 2026

_DUPLICATES: Final = 0.03
_LATE: Final = 0.05
_BAD: Final = 0.01

# Country: currency, a typical amount, its decimal places, the offset people write there.
COUNTRIES: Final = {
    "SG": ("SGD", "14.00", 2, "+08:00"),
    "ID": ("IDR", "85000", 0, "+07:00"),
    "TH": ("THB", "180.00", 2, "+07:00"),
    "VN": ("VND", "120000", 0, "+07:00"),
    "PH": ("PHP", "320.00", 2, "+08:00"),
    "MY": ("MYR", "22.00", 2, "+08:00"),
}
SOURCE_OF: Final = {"food": "meals", "rides": "rides", "mart": "mart", "express": "express"}
PAYMENT_TYPES: Final = ("wallet", "wallet", "card", "cash")


class Sent(NamedTuple):
    """A message for the transactions topic, and the key of the award that it should come to, if any."""

    key: bytes
    value: bytes
    award: str | None


BOB: Final[dict[str, Any]] = {
    "type": "transaction.completed",
    "source": "meals",
    "transaction_id": "T-BOB",
    "member_id": "bob",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": "2026-05-10T12:30:00+08:00",
}
JANE: Final[dict[str, Any]] = {
    **BOB,
    "transaction_id": "T-JANE",
    "member_id": "jane",
    "country": "ID",
    "amount": "150000",
    "currency": "IDR",
    "occurred_at": "2026-05-10T12:15:00+07:00",
}
# Eve earns enough to rise to silver, and is paid by it the next time.
EVE: Final[dict[str, Any]] = {**BOB, "transaction_id": "T-EVE-1", "member_id": "eve", "amount": "80.00"}
EVE_AGAIN: Final[dict[str, Any]] = {
    **EVE,
    "transaction_id": "T-EVE-2",
    "amount": "10.00",
    "occurred_at": "2026-05-11T12:30:00+08:00",
}
# member, program, tier: what the stream's members are before it starts.
TIERS: Final = (
    ("bob", "GRP", "platinum"),
    ("jane", "OVO", "gold"),
    ("m00001", "GRP", "silver"),
    ("m00002", "GRP", "gold"),
)


NAMED: Final = 3


def stream(transactions: int) -> Iterator[Sent]:
    """A stream of `transactions` messages, after one each of Bob, Jane and Eve."""
    rng = random.Random(_SEED)
    yield from map(sent, (BOB, JANE, EVE))
    recent: list[dict[str, Any]] = []
    for number in range(transactions):
        chance = rng.random()
        if recent and chance < _DUPLICATES:
            yield sent(rng.choice(recent))
        elif chance < _DUPLICATES + _BAD:
            yield _bad(number, rng, recent)
        else:
            transaction = _transaction(number, rng, late=chance > 1 - _LATE)
            recent = [*recent[-199:], transaction]
            yield sent(transaction)


def _transaction(number: int, rng: random.Random, *, late: bool) -> dict[str, Any]:
    country = rng.choice(tuple(COUNTRIES))
    currency, typical, places, offset = COUNTRIES[country]
    vertical = rng.choice(tuple(SOURCE_OF))
    amount = Decimal(typical) * Decimal(rng.randint(20, 400)) / 100
    moment = (
        _START + timedelta(seconds=number * 3 + rng.randint(0, 2)) - timedelta(days=rng.randint(5, 90) if late else 0)
    )
    return {
        "type": "transaction.completed",
        "source": SOURCE_OF[vertical],
        "transaction_id": f"T-{number:07}",
        "member_id": f"m{min(int(rng.expovariate(1 / 300)), 99_999):05}",
        "country": country,
        "vertical": vertical,
        "payment_type": rng.choice(PAYMENT_TYPES),
        "amount": str(amount.quantize(Decimal(1).scaleb(-places))),
        "currency": currency,
        "occurred_at": moment.replace(tzinfo=None).isoformat() + offset,
    }


def _bad(number: int, rng: random.Random, recent: list[dict[str, Any]]) -> Sent:
    """One message of each kind of fault in turn."""
    good = _transaction(number, rng, late=False)
    faults: tuple[dict[str, Any] | None, ...] = (
        {**good, "vertical": "yachts"},
        {**good, "country": "XX"},
        {**good, "currency": "EUR"},
        {**good, "payment_type": "barter"},
        {**good, "amount": "-5.00"},
        {name: value for name, value in good.items() if name != "member_id"},
        # The key of an earlier transaction with another time: other facts under the same key.
        {**recent[-1], "occurred_at": good["occurred_at"]} if recent else {**good, "vertical": "yachts"},
        None,
    )
    fault = rng.choice(faults)
    if fault is None:
        return Sent(good["member_id"].encode(), b'{"type": "transaction.completed", "sour', None)
    return sent(fault)._replace(award=None)


def sent(transaction: dict[str, Any]) -> Sent:
    """The message for a transaction, or for its refund."""
    return Sent(transaction.get("member_id", "").encode(), json.dumps(transaction).encode(), award_key(transaction))


def award_key(transaction: Mapping[str, Any]) -> str:
    """The key of the award for a transaction, or of what a refund takes back."""
    if "refund_id" in transaction:
        return refund_key(transaction["source"], transaction["refund_id"])
    return transaction_key(transaction["source"], transaction["transaction_id"])

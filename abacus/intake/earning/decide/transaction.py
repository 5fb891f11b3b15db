"""A transaction, and how the bytes of its message are read and checked. Pure."""

from datetime import datetime
from typing import Final, Literal

import msgspec
import orjson
from msgspec import UNSET, UnsetType
from pydantic import ValidationError

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, NAME_PATTERN, event_key, fingerprint, refund_key, transaction_key
from abacus.intake.earning.decide import transaction_message as messages
from abacus.intake.earning.decide.transaction_message import (
    AMOUNT_PATTERN,
    COUNTRY_PATTERN,
    CURRENCY_PATTERN,
    REDEMPTION_PATTERN,
)
from abacus.platform.json_names import check_names, check_names_read
from abacus.platform.quick_texts import MOMENT_PATTERN, parsed, whole
from abacus.platform.validation import faults_of, first_fault

COMPLETED: Final = "transaction.completed"
REFUNDED: Final = "transaction.refunded"
MAX_BYTES: Final = 64 * 1024  # a transaction is well under one kilobyte; this also keeps any of them fit for SQS


class _Facts(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of everything on the transactions topic."""

    source: str
    transaction_id: str
    member_id: str
    country: str
    occurred_at: datetime
    type: str


class Completed(_Facts, frozen=True, gc=False, omit_defaults=True):
    """A member paid for something. `redemption_id` names the offer or the reward that was redeemed with it."""

    vertical: str
    payment_type: str
    amount: str
    currency: str
    redemption_id: str | None = None

    @property
    def key(self) -> str:
        return transaction_key(self.source, self.transaction_id)

    @property
    def fingerprint(self) -> str:
        """Covers the facts, never points or rates; `15.0` and `15.00` are the same amount."""
        return fingerprint(self._facts)

    @property
    def fingerprint_for_partner(self) -> str:
        """For a partner's key, which does not name the transaction; so the fingerprint covers its source and id as
        well.
        """
        return fingerprint(("asked", self.source, self.transaction_id, *self._facts))

    @property
    def _facts(self) -> tuple[str, ...]:
        return (
            self.type,
            self.member_id,
            self.country,
            self.vertical,
            self.payment_type,
            _same_amount(self.amount),
            self.currency,
            _same_instant(self.occurred_at),
            *(() if self.redemption_id is None else (self.redemption_id,)),
        )


def _same_amount(amount: str) -> str:
    """One text for each amount; trailing zeros make no difference."""
    amount = amount.lstrip("0")
    return amount.rstrip("0") if "." in amount else f"{amount}."


def _same_instant(moment: datetime) -> str:
    """One text for each instant; its offset makes no difference. Exact to the microsecond for centuries."""
    return str(int(moment.timestamp() * 1_000_000 + 0.5))  # no instant here is before 1970


class Refunded(_Facts, frozen=True, gc=False):
    """Part or all of a transaction was paid back; `transaction_id` names the original."""

    refund_id: str
    amount: str
    currency: str

    @property
    def key(self) -> str:
        return refund_key(self.source, self.refund_id)

    @property
    def refunds(self) -> str:
        """The key of the refunded transaction."""
        return transaction_key(self.source, self.transaction_id)

    @property
    def fingerprint(self) -> str:
        return fingerprint(
            (
                self.type,
                self.transaction_id,
                self.member_id,
                self.country,
                _same_amount(self.amount),
                self.currency,
                _same_instant(self.occurred_at),
            )
        )


class Event(_Facts, frozen=True, gc=False):
    """Anything else that happened to a member; a card may give a fixed number of points for its type."""

    @property
    def key(self) -> str:
        return event_key(self.source, self.type, self.transaction_id)

    @property
    def fingerprint(self) -> str:
        return fingerprint((self.type, self.member_id, self.country, _same_instant(self.occurred_at)))


Transaction = Completed | Refunded | Event


class _Usual(msgspec.Struct, gc=False):
    """A message of nearly every sort that comes, before its texts are checked."""

    type: Literal["transaction.completed"]
    source: str
    transaction_id: str
    member_id: str
    country: str
    occurred_at: str
    vertical: str
    payment_type: str
    amount: str
    currency: str
    redemption_id: UnsetType | str | None = UNSET


_USUAL: Final = msgspec.json.Decoder(_Usual)
_COMMA: Final = ord(",")
_FLAT: Final = 50  # what is nested more deeply than any reader goes has more brackets
# Its texts, each on a line of its own. No pattern lets a line end through.
_TEXTS: Final = whole(
    "\n".join(
        f"(?:{pattern[1:-1]})"
        for pattern in (
            *(NAME_PATTERN, ID_PATTERN, ID_PATTERN, COUNTRY_PATTERN, MOMENT_PATTERN),
            *(NAME_PATTERN, NAME_PATTERN, AMOUNT_PATTERN, CURRENCY_PATTERN),
        )
    )
)
_REDEMPTION: Final = whole(REDEMPTION_PATTERN)

# Between the members of a transaction that has no others than it needs. Each further member, and each that stands
# twice, adds one.
_LEAST_COMMAS: Final = {
    kind: sum(field.is_required() for field in kind.model_fields.values()) - 1
    for kind in (messages.Completed, messages.Refunded, messages.Event)
}
_COMMAS: Final = _LEAST_COMMAS[messages.Completed]


def read_transaction(body: bytes) -> Transaction:
    """The transaction in a message's bytes. Raises `SetAside` with the first fault when it is not one."""
    if len(body) > MAX_BYTES:
        raise SetAside(Reason.UNDECODABLE, f"{len(body)} bytes; a transaction has at most {MAX_BYTES}")
    return _read_quickly(body) or read_naming_faults(body)


def _read_quickly(body: bytes) -> Completed | None:
    """None where the other reader has to judge: this one takes less, and no other values."""
    try:
        usual = _USUAL.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    texts = (
        f"{usual.source}\n{usual.transaction_id}\n{usual.member_id}\n{usual.country}\n{usual.occurred_at}\n"
        f"{usual.vertical}\n{usual.payment_type}\n{usual.amount}\n{usual.currency}"
    )
    if _TEXTS.fullmatch(texts) is None or (occurred_at := parsed(usual.occurred_at)) is None:
        return None
    redemption, commas = usual.redemption_id, _COMMAS
    if redemption is not UNSET:
        commas += 1
        if redemption is not None and _REDEMPTION.fullmatch(redemption) is None:
            return None
    if body.count(b",") != commas and not _names_each_once(body):
        return None
    return Completed(
        usual.source,
        usual.transaction_id,
        usual.member_id,
        usual.country,
        occurred_at,
        usual.type,
        usual.vertical,
        usual.payment_type,
        usual.amount,
        usual.currency,
        redemption.lower() if redemption else None,
    )


def _names_each_once(body: bytes) -> bool:
    """Whether members that nobody asked for are as any reader takes them."""
    try:
        check_names_read(body, orjson.loads(body))
    except (orjson.JSONDecodeError, SetAside):
        return False
    return body.count(b"[") + body.count(b"{") < _FLAT


def read_naming_faults(body: bytes) -> Transaction:
    """Of a message that is not too long, whatever it is. Raises `SetAside`."""
    message: messages.Completed | messages.Refunded | messages.Event
    try:
        message = messages.Completed.model_validate_json(body)
    except ValidationError as error:
        faults = faults_of(error)
        if any(fault["type"] == "json_invalid" for fault in faults):
            raise SetAside(Reason.UNDECODABLE, first_fault(error)) from None
        if all(fault["loc"] != ("type",) for fault in faults):
            raise SetAside(Reason.INVALID, first_fault(error)) from None
        message = _read_other(body)
    if body.count(_COMMA) != _LEAST_COMMAS[type(message)]:
        check_names(body)
    return transaction_of(message)


def _read_other(body: bytes) -> messages.Refunded | messages.Event:
    try:
        type_ = messages.Typed.model_validate_json(body).type
        if type_ == REFUNDED:
            return messages.Refunded.model_validate_json(body)
        return messages.Event.model_validate_json(body)
    except ValidationError as error:
        raise SetAside(Reason.INVALID, first_fault(error)) from None


def transaction_of(message: messages.Completed | messages.Refunded | messages.Event) -> Transaction:
    """The transaction of a message that was checked."""
    match message:
        case messages.Completed():
            return Completed(**message.__dict__)
        case messages.Refunded():
            return Refunded(**message.__dict__)
        case messages.Event():
            return Event(**message.__dict__)


def encode_transaction(transaction: Completed) -> bytes:
    """The message of a transaction."""
    return msgspec.json.encode(transaction)

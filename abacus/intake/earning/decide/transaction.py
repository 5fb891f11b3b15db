"""Reads and checks the bytes of a transaction message. Pure."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, NAME_PATTERN, event_key, fingerprint, refund_key, transaction_key
from abacus.platform.json_names import check_names
from abacus.platform.validation import Moment, faults_of, first_fault

COMPLETED: Final = "transaction.completed"
REFUNDED: Final = "transaction.refunded"
MAX_BYTES: Final = 64 * 1024  # a transaction is well under one kilobyte; this also keeps any of them fit for SQS

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
# A string and not a JSON number: a float must never touch money. Plain digits, never an exponent.
AmountText = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,15}(\.[0-9]{1,8})?$")]
# A UUID, in the letters of which the API answers it.
RedemptionId = Annotated[
    str, StringConstraints(pattern=r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$", to_lower=True)
]


class _Message(BaseModel):
    """The fields of every message on the transactions topic; other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    source: Name
    transaction_id: Id
    member_id: Id
    country: Country
    occurred_at: Moment


class Completed(_Message):
    """A member paid for something. `redemption_id` names the offer or the reward that was redeemed with it."""

    model_config = ConfigDict(title="transaction.completed")

    type: Literal["transaction.completed"]
    vertical: Name
    payment_type: Name
    amount: AmountText
    currency: Currency
    redemption_id: RedemptionId | None = None

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


class Refunded(_Message):
    """Part or all of a transaction was paid back; `transaction_id` names the original."""

    model_config = ConfigDict(title="transaction.refunded")

    type: Literal["transaction.refunded"]
    refund_id: Id
    amount: AmountText
    currency: Currency

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


class Event(_Message):
    """Anything else that happened to a member; a card may give a fixed number of points for its type."""

    model_config = ConfigDict(title="event")

    type: Name

    @property
    def key(self) -> str:
        return event_key(self.source, self.type, self.transaction_id)

    @property
    def fingerprint(self) -> str:
        return fingerprint((self.type, self.member_id, self.country, _same_instant(self.occurred_at)))


Transaction = Completed | Refunded | Event


class _Typed(BaseModel):
    type: Name


TRANSACTION: Final[TypeAdapter[Transaction]] = TypeAdapter(Transaction)


# Between the members of a transaction that has no others than it needs. Each further member, and each that stands
# twice, adds one.
_LEAST_COMMAS: Final = {
    kind: sum(field.is_required() for field in kind.model_fields.values()) - 1 for kind in (Completed, Refunded, Event)
}
_COMMA: Final = ord(",")


def read_transaction(body: bytes) -> Transaction:
    """The transaction in a message's bytes. Raises `SetAside` with the first fault when it is not one."""
    if len(body) > MAX_BYTES:
        raise SetAside(Reason.UNDECODABLE, f"{len(body)} bytes; a transaction has at most {MAX_BYTES}")
    transaction: Transaction
    try:
        transaction = Completed.model_validate_json(body)
    except ValidationError as error:
        faults = faults_of(error)
        if any(fault["type"] == "json_invalid" for fault in faults):
            raise SetAside(Reason.UNDECODABLE, first_fault(error)) from None
        if all(fault["loc"] != ("type",) for fault in faults):
            raise SetAside(Reason.INVALID, first_fault(error)) from None
        transaction = _read_other(body)
    if body.count(_COMMA) != _LEAST_COMMAS[type(transaction)]:
        check_names(body)
    return transaction


def _read_other(body: bytes) -> Transaction:
    try:
        type_ = _Typed.model_validate_json(body).type
        if type_ == REFUNDED:
            return Refunded.model_validate_json(body)
        return Event.model_validate_json(body)
    except ValidationError as error:
        raise SetAside(Reason.INVALID, first_fault(error)) from None

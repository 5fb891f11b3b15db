"""The messages of the transactions topic: their schema, and the checks that name their faults. Pure."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter

from abacus.core.ids import ID_PATTERN, NAME_PATTERN
from abacus.platform.validation import Moment

COUNTRY_PATTERN: Final = r"^[A-Z]{2}$"
CURRENCY_PATTERN: Final = r"^[A-Z]{3}$"
AMOUNT_PATTERN: Final = r"^[0-9]{1,15}(\.[0-9]{1,8})?$"
REDEMPTION_PATTERN: Final = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Country = Annotated[str, StringConstraints(pattern=COUNTRY_PATTERN)]
Currency = Annotated[str, StringConstraints(pattern=CURRENCY_PATTERN)]
# A string and not a JSON number: a float must never touch money. Plain digits, never an exponent.
AmountText = Annotated[str, StringConstraints(pattern=AMOUNT_PATTERN)]
# A UUID, in the letters of which the API answers it.
RedemptionId = Annotated[str, StringConstraints(pattern=REDEMPTION_PATTERN, to_lower=True)]


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


class Refunded(_Message):
    """Part or all of a transaction was paid back; `transaction_id` names the original."""

    model_config = ConfigDict(title="transaction.refunded")

    type: Literal["transaction.refunded"]
    refund_id: Id
    amount: AmountText
    currency: Currency


class Event(_Message):
    """Anything else that happened to a member; a card may give a fixed number of points for its type."""

    model_config = ConfigDict(title="event")

    type: Name


class Typed(BaseModel):
    """Of any kind."""

    type: Name


TRANSACTION: Final[TypeAdapter[Completed | Refunded | Event]] = TypeAdapter(Completed | Refunded | Event)

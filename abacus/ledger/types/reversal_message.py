"""A reversal as it stands in an award envelope, beside awards. Pure."""

from decimal import Decimal
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.core.points import plain
from abacus.core.sources import STREAM
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Refund, Reversal
from abacus.platform.validation import Day, Moment, first_fault
from abacus.pricing.decide.card import OnShortfall


class ReversalMessage(TypedDict):
    """The reversal of a refund: the share of `amount` in the points that `reverses` earned, known when it is posted."""

    key: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    kind: Literal[TransferKind.REVERSE]
    reverses: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    amount: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,15}(\.[0-9]{1,8})?$")]
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    on_shortfall: OnShortfall
    card: str
    occurred_at: Moment
    expires_on: Day
    lifetime: Annotated[bool, Field(strict=True)]
    fingerprint: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]


_REVERSAL: Final[TypeAdapter[ReversalMessage]] = TypeAdapter(ReversalMessage)


def encode_reversal(reversal: Reversal) -> bytes:
    refund = reversal.part
    assert isinstance(refund, Refund)  # noqa: S101  # only refunds come by the queue
    message: dict[str, Any] = {
        "key": reversal.key,
        "member_id": reversal.member_id,
        "program": reversal.program,
        "country": reversal.country,
        "kind": TransferKind.REVERSE,
        "reverses": reversal.reverses,
        "amount": plain(refund.amount),
        "currency": refund.currency,
        "on_shortfall": reversal.on_shortfall,
        "card": reversal.card,
        "occurred_at": reversal.occurred_at,
        "expires_on": reversal.expires_on,
        "lifetime": reversal.lifetime,
        "fingerprint": reversal.fingerprint,
    }
    return orjson.dumps(message)


def decode_reversal(text: bytes) -> Reversal:
    """Raises `SetAside`."""
    try:
        message = _REVERSAL.validate_json(text)
    except ValidationError as error:
        raise SetAside(Reason.INVALID, first_fault(error)) from None
    return Reversal(
        key=message["key"],
        member_id=message["member_id"],
        program=message["program"],
        country=message["country"],
        fingerprint=message["fingerprint"],
        reverses=message["reverses"],
        part=Refund(Decimal(message["amount"]), message["currency"]),
        on_shortfall=message["on_shortfall"],
        card=message["card"],
        reason=None,
        actor=None,
        source=STREAM,
        occurred_at=message["occurred_at"],
        expires_on=message["expires_on"],
        lifetime=message["lifetime"],
    )

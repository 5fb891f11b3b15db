"""A reversal as it stands in an award envelope, beside awards. Pure."""

from decimal import Decimal
from typing import Annotated, Any, Final, Literal, NotRequired

import orjson
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.core.points import plain
from abacus.core.sources import SOURCE_PATTERN, STREAM
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Refund, Reversal
from abacus.platform.validation import Day, Moment, first_fault
from abacus.pricing.decide.card import OnShortfall


class ReversalMessage(TypedDict):
    """A reversal of points that `reverses` earned: the share of `amount`, known when it is posted; or all that is left
    of them, where something else than the stream, a `source`, takes back what it gave.
    """

    key: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    kind: Literal[TransferKind.REVERSE]
    reverses: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    amount: NotRequired[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,15}(\.[0-9]{1,8})?$")]]
    currency: NotRequired[Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]]
    source: NotRequired[Annotated[str, StringConstraints(pattern=SOURCE_PATTERN)]]
    on_shortfall: OnShortfall
    card: str
    occurred_at: Moment
    expires_on: Day
    lifetime: Annotated[bool, Field(strict=True)]
    fingerprint: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]


_REVERSAL: Final[TypeAdapter[ReversalMessage]] = TypeAdapter(ReversalMessage)


def encode_reversal(reversal: Reversal) -> bytes:
    refund = reversal.part
    if isinstance(refund, Refund):
        part = {"amount": plain(refund.amount), "currency": refund.currency}
    else:
        assert refund is None  # noqa: S101  # what is taken back by the queue is a share, or all that is left
        part = {"source": reversal.source}
    message: dict[str, Any] = {
        "key": reversal.key,
        "member_id": reversal.member_id,
        "program": reversal.program,
        "country": reversal.country,
        "kind": TransferKind.REVERSE,
        "reverses": reversal.reverses,
        **part,
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
    source = message.get("source", STREAM)
    return Reversal(
        key=message["key"],
        member_id=message["member_id"],
        program=message["program"],
        country=message["country"],
        fingerprint=message["fingerprint"],
        reverses=message["reverses"],
        part=_part(message, source),
        on_shortfall=message["on_shortfall"],
        card=message["card"],
        reason=None,
        actor=None,
        source=source,
        occurred_at=message["occurred_at"],
        expires_on=message["expires_on"],
        lifetime=message["lifetime"],
    )


def _part(message: ReversalMessage, source: str) -> Refund | None:
    """Raises `SetAside` where neither a refund nor another source says how much it is."""
    if source != STREAM and "amount" not in message and "currency" not in message:
        return None
    if source == STREAM and "amount" in message and "currency" in message:
        return Refund(Decimal(message["amount"]), message["currency"])
    raise SetAside(Reason.INVALID, "a refund of the stream has an amount and a currency; another source has neither")

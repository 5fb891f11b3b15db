"""The message to a partner about a posting or a rejection, or to try its receiver. Pure."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.ids import award_id, fingerprint, partner_key
from abacus.core.sources import partner_of, source_of_key
from abacus.intake.partners.decide.partner import is_partner_id
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.limits import Rejection
from abacus.ledger.types.read_point_event import PointEventReader, read_explanation

_READ: Final = PointEventReader(TransferKind.EARN)


class MessageType(StrEnum):
    """The list is closed: metrics count by it."""

    POSTED = "award.posted"
    REJECTED = "award.rejected"
    EXCHANGE_CHANGED = "exchange.changed"


class WebhookMessage(NamedTuple):
    """`body` is sent byte for byte. The id depends on the partner, the type and the key alone."""

    message_id: str
    partner_id: str
    member_id: str
    type: MessageType
    body: str
    happened_at: datetime


class _AwardName(NamedTuple):
    """The partner that asked for an award, and the partner's name for it."""

    partner_id: str
    key: str
    idempotency_key: str


def posted(event: bytes) -> WebhookMessage | None:
    """The message about a point event; None for an event that is no partner's. Raises `Unreadable`."""
    read = _READ(event)
    award = None if read is None else _award_name(read["data"]["key"], read["data"].get("source"))
    if read is None or award is None:
        return None
    data, at = read["data"], read["time"]
    about = {
        "member_id": data["member_id"],
        "program": data["program"],
        "country": data["country"],
        "points": data["points"],
        "status": "posted",
        "balance": data["balance"],
        "posted_at": at,
        "occurred_at": data["occurred_at"],
        "expires_on": data["expires_on"],
        "explanation": read_explanation(event),
    }
    return _message(MessageType.POSTED, award, at, about)


def rejected(rejection: Rejection) -> WebhookMessage | None:
    """The message about an award that met a limit."""
    award, at = _award_name(rejection.key), rejection.rejected_at
    if award is None:
        return None
    about = {
        "member_id": rejection.member_id,
        "program": rejection.program,
        "points": rejection.points,
        "status": "rejected",
        "rejected_at": at,
        "reason": rejection.reason,
        "detail": rejection.detail,
    }
    return _message(MessageType.REJECTED, award, at, about)


def message_id(partner_id: str, type_: MessageType, key: str) -> str:
    """The same id each time that the event is read, so that it becomes one message."""
    return f"msg_{fingerprint((partner_id, type_, key))}"


def _award_name(key: str, source: str | None = None) -> _AwardName | None:
    partner_id = partner_of(source or source_of_key(key))
    if partner_id is None or not is_partner_id(partner_id):
        return None
    return _AwardName(partner_id, key, key.removeprefix(partner_key(partner_id, "")))


def _message(type_: MessageType, award: _AwardName, at: datetime, about: dict[str, Any]) -> WebhookMessage:
    data = {"award_id": award_id(award.key), "idempotency_key": award.idempotency_key} | about
    body = orjson.dumps({"type": type_, "timestamp": at, "data": data}).decode()
    id_ = message_id(award.partner_id, type_, award.key)
    return WebhookMessage(id_, award.partner_id, about["member_id"], type_, body, at)


TRIAL_TYPE: Final = "abacus.test"


class TrialMessage(NamedTuple):
    """`body` is sent byte for byte."""

    message_id: str
    body: bytes


def trial_message(partner_id: str, number: str, now: datetime) -> TrialMessage:
    """`number` tells one trial from another, so that a receiver which drops repetitions sees each."""
    body = {"type": TRIAL_TYPE, "timestamp": now, "data": {"partner_id": partner_id}}
    return TrialMessage(f"msg_test_{number}", orjson.dumps(body))

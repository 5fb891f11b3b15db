"""The bodies of answers, made from what the rooms return; `answer_schemas` describes them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from starlette.responses import Response

from abacus.core.errors import SetAside
from abacus.core.sources import source_of_key
from abacus.intake.partners.award_intake import Accepted
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.decide.quote import Quote
from abacus.intake.partners.members import AccountAsOf
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.ledger.store.read import RemainingLot
from abacus.ledger.types.award import Award
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Captured, Held, Released, Spent


def worth(award: Award) -> dict[str, Any]:
    return {
        "points": award.points,
        "program": award.program,
        "member_id": award.member_id,
        "expires_on": award.expires_on,
        "explanation": orjson.Fragment(award.explanation),
    }


def quoted(quote: Quote, now: datetime) -> dict[str, Any]:
    return {
        **worth(quote.award),
        "card": quote.card.name,
        "quoted_for": quote.at,
        "scheduled": quote.card.card.effective_from > now,
    }


def queued(award_id: UUID, accepted: Accepted) -> dict[str, Any]:
    answer = {"award_id": award_id, "status": AwardStatus.QUEUED, **worth(accepted.award)}
    return answer | {"provisional": True} if accepted.provisional else answer


def state(award: AwardState) -> dict[str, Any]:
    known = {"posted_at": award.posted_at, "balance": award.balance, "reason": award.reason, "detail": award.detail}
    return {
        "award_id": str(award.award_id),
        "status": award.status,
        **worth(award.award),
        **({"provisional": True} if award.provisional else {}),
        **{name: value for name, value in known.items() if value is not None},
    }


def member(member_id: str, accounts: Iterable[AccountAsOf]) -> dict[str, Any]:
    shown = [
        {
            "program": each.program,
            "balance": each.balance,
            "held": each.held,
            "available": each.available,
            "tier": each.tier,
            "expires_on": each.expires_on,
        }
        for each in accounts
    ]
    return {"member_id": member_id, "accounts": shown}


def transfer(each: Transfer) -> dict[str, Any]:
    """All fields of a transfer, for a partner that may see them."""
    return {
        "id": f"{each.member_id}:{each.program}:{each.seq}",
        "program": each.program,
        "seq": each.seq,
        "kind": each.kind,
        "points": each.points,
        "balance_after": each.balance_after,
        "key": each.key,
        "country": each.country,
        "occurred_at": each.occurred_at,
        "posted_at": each.posted_at,
        "expires_on": each.expires_on,
        "reverses": each.reverses,
        "actor": each.actor,
        "explanation": orjson.Fragment(each.explanation),
    }


def transfer_for(each: Transfer, partner: Partner) -> dict[str, Any]:
    """The fields of a transfer that the partner may see: of others' transfers neither key, actor nor explanation, and
    the reversed key only if it is the partner's own.
    """
    shown = transfer(each)
    if partner.may_see(each.known_source):
        return shown
    its_own = each.reverses is not None and partner.owns(source_of_key(each.reverses))
    hidden = {"key": None, "actor": None, "explanation": None}
    return shown | hidden | {"reverses": each.reverses if its_own else None}


def moved(each: Transfer) -> dict[str, Any]:
    return {**transfer(each), "member_id": each.member_id, "balance": each.balance_after, **_available(each)}


def _available(each: Transfer) -> dict[str, Any]:
    """The points available after a movement, and its hold; empty for a transfer whose explanation this version does not
    know.
    """
    try:
        explanation = read(each.explanation)
    except SetAside:
        return {}
    match explanation:
        case Held():
            told = {"available": explanation.available, "hold_id": explanation.hold, "held": explanation.held}
            return told | {"until": explanation.until}
        case Captured() | Released():
            return {"available": explanation.available, "hold_id": explanation.hold, "held": explanation.held}
        case Spent():
            return {"available": explanation.available}
        case _:
            return {}


def hold(each: Hold) -> dict[str, Any]:
    return {
        "hold_id": str(each.hold_id),
        "program": each.program,
        "points": each.points,
        "until": each.until,
        "status": each.status,
    }


def lot(member_id: str, each: RemainingLot, partner: Partner) -> dict[str, Any]:
    shown = {"id": f"{member_id}:{each.program}:{each.seq}", **each._asdict()}
    source = shown.pop("source")
    return shown if partner.may_see(source) else shown | {"key": None}


def approval(each: Approval) -> dict[str, Any]:
    shown = {"approval_id": str(each.approval_id), "document": orjson.Fragment(each.document.encode())}
    return each._asdict() | shown


def pending(each: Approval) -> dict[str, Any]:
    """An adjustment or a reversal that waits, or waited, for a second person."""
    movement = orjson.loads(each.document)
    named = {"adjustment_id": str(each.approval_id)} if each.kind == ApprovalKind.ADJUSTMENT else {}
    return {
        "approval_id": str(each.approval_id),
        **named,
        "kind": each.kind,
        "member_id": movement["member_id"],
        "program": movement["program"],
        "country": movement["country"],
        "points": movement["points" if named else "part"],
        "reason": movement["reason"],
        "actor": movement["actor"],
        "status": each.status,
        "digest": each.digest,
        "asked_by": each.asked_by,
        "asked_at": each.asked_at,
        "decided_by": each.decided_by,
        "decided_at": each.decided_at,
        "note": each.note,
    }


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json", headers=headers)

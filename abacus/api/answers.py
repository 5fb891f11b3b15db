"""The bodies of answers, made from what the rooms return by the fields of their schemas."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from abacus.api.answer_schemas import (
    AccountAnswer,
    ApprovalAnswer,
    HoldAnswer,
    LotAnswer,
    PendingAnswer,
    TransferAnswer,
    Worth,
)
from abacus.core.errors import SetAside
from abacus.core.sources import source_of_key
from abacus.intake.partners.award_intake import Accepted
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.decide.quote import Quote
from abacus.intake.partners.members import AccountAsOf
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.ledger.store.read import RemainingLot
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.redeemed.decide.named import ANOTHER, Named
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Captured, ExchangedOut, Held, Released, Spent


def _shown(of: object, schema: type[BaseModel], **told: Any) -> dict[str, Any]:
    """The fields of the schema, as they are told or as the value has them. Ids of rows are told as texts: orjson writes
    no UUID of the driver's own type.
    """
    return {name: told[name] if name in told else getattr(of, name) for name in schema.model_fields}


def worth(award: Award) -> dict[str, Any]:
    return _shown(award, Worth, explanation=orjson.Fragment(award.explanation))


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


def awarded(award: AwardState, partner: Partner, named: Named | None) -> dict[str, Any]:
    """The state of an award, with the offer or the reward that was redeemed with it."""
    return state(award) | _redeemed(named, partner)


def member(member_id: str, accounts: Iterable[AccountAsOf]) -> dict[str, Any]:
    return {"member_id": member_id, "accounts": [_shown(each, AccountAnswer) for each in accounts]}


def transfer(each: Transfer) -> dict[str, Any]:
    """All fields of a transfer, for a partner that may see them."""
    transfer_id = f"{each.member_id}:{each.program}:{each.seq}"
    return _shown(each, TransferAnswer, id=transfer_id, explanation=orjson.Fragment(each.explanation))


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


def listed_transfer(each: Transfer, partner: Partner, named: Named | None) -> dict[str, Any]:
    """What the partner may see of it, with the offer or the reward that was redeemed with it."""
    return transfer_for(each, partner) | _redeemed(named, partner)


def _redeemed(named: Named | None, partner: Partner) -> dict[str, Any]:
    if named is None:
        return {}
    if named.first is not None and not partner.may_see(source_of_key(named.first)):
        named = named._replace(first=ANOTHER)
    return {"redeemed": named.document}


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
        case Captured() | ExchangedOut() | Released():
            return {"available": explanation.available, "hold_id": explanation.hold, "held": explanation.held}
        case Spent():
            return {"available": explanation.available}
        case _:
            return {}


def hold(each: Hold) -> dict[str, Any]:
    return _shown(each, HoldAnswer, hold_id=str(each.hold_id))


def lot(member_id: str, each: RemainingLot, partner: Partner) -> dict[str, Any]:
    shown = _shown(each, LotAnswer, id=f"{member_id}:{each.program}:{each.seq}")
    return shown if partner.may_see(each.source) else shown | {"key": None}


def approval(each: Approval) -> dict[str, Any]:
    document = orjson.Fragment(each.document.encode())
    return _shown(each, ApprovalAnswer, approval_id=str(each.approval_id), document=document)


def pending(each: Approval) -> dict[str, Any]:
    """An adjustment or a reversal that waits, or waited, for a second person."""
    movement = orjson.loads(each.document)
    adjusts = each.kind == ApprovalKind.ADJUSTMENT
    told = {name: movement[name] for name in ("member_id", "program", "country", "reason", "actor")}
    told |= dict.fromkeys(("approval_id", "adjustment_id"), str(each.approval_id))
    shown = _shown(each, PendingAnswer, **told, points=movement["points" if adjusts else "part"])
    return shown if adjusts else {name: value for name, value in shown.items() if name != "adjustment_id"}


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json", headers=headers)

"""Rate cards on the command line: their desk, and drafts in files."""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final

from abacus.approving.card_desk import CardDesk
from abacus.cli.documents.drafts import FilePlan
from abacus.cli.documents.family import Family
from abacus.cli.people.approvals import document as approval_document
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.documents.types import DraftOutcome
from abacus.pricing.decide.card import RateCard
from abacus.pricing.kind import CARDS


def card_desk(at: CommandActor) -> AbstractAsyncContextManager[CardDesk]:
    needs_approval = settings().cards_need_approval
    approvals = large_moves(at.pool, at).approvals
    return nullcontext(CardDesk(at.pool, at.clock, approvals, needs_approval=needs_approval))


def _told(outcome: DraftOutcome[RateCard]) -> str:
    if (approval := outcome.approval) is None:
        return f"{outcome.label} published, effective from {outcome.document.effective_from.isoformat()}"
    return f"{approval.status}: another person approves it with `abacus approvals approve {approval.approval_id}`"


def _row(plan: FilePlan[RateCard], outcome: DraftOutcome[RateCard]) -> dict[str, Any]:
    changed = {"file": plan.file, "changes": plan.changes}
    if (approval := outcome.approval) is None:
        return changed | {"name": outcome.label, "against": plan.against, "until": plan.until}
    return changed | {"approval": approval_document(approval)}


def _done(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"published": [], "waiting": rows} if settings().cards_need_approval else {"published": rows}


FAMILY: Final = Family(
    kind=CARDS,
    desk=card_desk,
    offline=lambda: None,
    metavar="SCOPE",
    files="Rate cards in TOML.",
    drafts="rate cards",
    one="a rate card",
    against="the card that it displaces on its first day",
    nothing_new="the cards are in the store already",
    sentence=lambda card: f"{card.scope} from {card.effective_from.isoformat()}",
    told=_told,
    row=_row,
    done=_done,
)

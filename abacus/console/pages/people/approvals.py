"""Approvals: what needs, or needed, a second person, and deciding on it by what was shown."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID

from abacus.console.decide.fields import FieldLine, compared, lines_of
from abacus.console.pages.campaigns.campaign_draft import CAMPAIGN_DRAFTS
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.trials import Trial, trials_of
from abacus.console.pages.rates.rate_draft import CARD_DRAFTS
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import SetAside, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.people.decide.agreement import check_rejects, sees
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Status
from abacus.people.types.deed import Deed
from abacus.pricing.decide import timeline
from abacus.pricing.decide.card import RateCard, to_document
from abacus.pricing.store.cards import CardReader

_MOST: Final = 50
_LONGEST_REASON: Final = 500
DRAFTS: Final[Sequence[DraftKind[Any, Any]]] = (CARD_DRAFTS, CAMPAIGN_DRAFTS)


@dataclass(frozen=True, kw_only=True)
class ApprovalsPage(Page):
    """A page of the list, and what it may be narrowed to."""

    template: ClassVar[str] = "approvals.html"
    list: Rows[Approval]
    chosen: str | None
    statuses: Sequence[str] = tuple(Status)


@dataclass(frozen=True, kw_only=True)
class ApprovalPage(Page):
    """One approval: exactly what takes effect, and what this person may do about it."""

    template: ClassVar[str] = "approval.html"
    approval: Approval
    lines: Sequence[FieldLine]
    compares: bool
    why_not: str | None
    may_reject: bool
    trials: Part[Sequence[Trial]] | None
    trial_page: str | None


async def approvals(call: Call) -> ApprovalsPage:
    chosen = call.asked("status")
    if chosen not in {None, *Status}:
        raise PageFault("not-found", "No approval has such a status.")
    found = await call.rooms[Approvals].all(
        status=Status(chosen) if chosen else None,
        countries=call.countries(Deed.SEE),
        before=place_of(call, UUID),
        limit=_MOST + 1,
    )
    rows = rows_of(call, found, _MOST, lambda each: (each.asked_at, each.approval_id))
    option = f" --status {chosen}" if chosen else ""
    return ApprovalsPage(title="Approvals", command=f"abacus approvals list{option}", list=rows, chosen=chosen)


async def approval(call: Call) -> ApprovalPage:
    return await _page(call, await _open_to(call))


async def approve(call: Call) -> Page | See:
    """By the digest that stood in the form: that of what was shown."""
    shown = await _open_to(call)
    call.check(Deed.APPROVE, shown.country)
    try:
        await call.rooms[Approvals].approve(shown.approval_id, call.actor, call.form.get("digest"))
    except (CannotDecide, CannotExecute) as error:
        now = await _open_to(call)
        if (now.status, now.decided_by) != (Status.DONE, call.actor.source):  # it was, by another click
            return await _page(call, now, fault=error.detail)
    return See(f"/approvals/{shown.approval_id}")


async def reject(call: Call) -> Page | See:
    shown = await _open_to(call)
    reason = call.form.get("reason")
    if not reason or len(reason) > _LONGEST_REASON:
        wrong = "Say why." if not reason else f"At most {_LONGEST_REASON} characters; these are {len(reason)}."
        return await _page(call, shown, form=call.form.shown().but(reason=wrong))
    try:
        await call.rooms[Approvals].reject(shown.approval_id, call.actor, reason)
    except CannotDecide as error:
        return await _page(call, await _open_to(call), form=call.form.shown(), fault=error.detail)
    return See(f"/approvals/{shown.approval_id}")


async def _open_to(call: Call) -> Approval:
    """Raises `PageFault` for an approval that the person may not see."""
    found: Approval | None = await call.rooms[Approvals].find(UUID(str(call.request.path_params["id"])))
    if found is None or not sees(call.actor, found):
        raise PageFault("not-found", "No such approval is open to you.")
    return found


async def _page(call: Call, shown: Approval, *, form: Form = EMPTY, fault: str | None = None) -> ApprovalPage:
    document = json.loads(shown.document)
    drafts, draft = _draft_of(shown)
    before = _before(call, shown, draft)
    return ApprovalPage(
        title=shown.summary,
        command=f"abacus approvals show {shown.approval_id}",
        approval=shown,
        lines=lines_of(document) if before is None else compared(before, document),
        compares=before is not None,
        why_not=await _why_not(call, shown),
        may_reject=_may_reject(call, shown),
        trials=None if drafts is None else await call.part(trials_of(call, drafts, draft)),
        trial_page=None if drafts is None else drafts.tried_at(draft),
        form=form,
        fault=fault,
    )


def _before(call: Call, shown: Approval, draft: object) -> Any | None:
    """What a card displaces on its day, as things stand."""
    if not isinstance(draft, RateCard) or shown.status != Status.PENDING:
        return None
    try:
        displaced = timeline.place_of(draft, call.rooms[CardReader].book().by_start(draft.scope)).displaced
    except (SetAside, Unavailable):
        return None
    return json.loads(json.dumps(to_document(displaced.card), default=str)) if displaced is not None else None


def _draft_of(shown: Approval) -> tuple[DraftKind[Any, Any] | None, Any]:
    """The document that is to be approved, and its kind; none where the approval is about something else, or erased."""
    for drafts in DRAFTS:
        if drafts.approval == shown.kind and drafts.approved is not None:
            try:
                return drafts, drafts.approved(json.loads(shown.document))
            except (DocumentFaults, KeyError):
                break
    return None, None


async def _why_not(call: Call, shown: Approval) -> str | None:
    """Why this person cannot approve it; None where it can."""
    try:
        await call.rooms[Approvals].check_approves(shown, call.actor)
    except CannotDecide as error:
        return error.detail
    return None


def _may_reject(call: Call, shown: Approval) -> bool:
    try:
        check_rejects(shown, call.actor)
    except CannotDecide:
        return False
    return True

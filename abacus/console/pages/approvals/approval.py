"""One approval: what takes effect, in words; what it costs; why a second person is asked; and the decision, by exactly
what was shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.decide.told import Told
from abacus.console.pages.approvals.tellings import EVERY_KIND, UNREADABLE, ListedApproval, document_of
from abacus.console.pages.drafts.trials import Trial, Trying, trying_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.people.decide.agreement import check_rejects, sees
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Status
from abacus.people.types.deed import Deed

_LONGEST_REASON: Final = 500


@dataclass(frozen=True, kw_only=True)
class ApprovalPage(Page):
    """Exactly what takes effect, and what this person may do about it. `why` says the rule by which it takes two.
    `trials` is None where nothing can be tried; `may_try`: the usual trial may be asked for, and one more has something
    to say.
    """

    template: ClassVar[str] = "approval.html"
    approval: ListedApproval
    subject: str
    digest: str
    decided_at: datetime | None
    note: str | None
    lapses_at: datetime | None
    told: Part[Told]
    why: str
    why_not: str | None
    may_reject: bool
    is_own: bool
    trials: Part[Sequence[Trial]] | None
    trials_title: str
    may_try: bool
    try_says: str
    try_button: str
    trial_page: str | None
    trial_page_says: str


async def approval(call: Call) -> ApprovalPage:
    shown = await _open_to(call)
    room, trying = call.rooms[Approvals], _trying(shown)
    trials = await call.part(trying.trials(call, _path(shown))) if trying is not None else None
    open_ = shown.status == Status.PENDING
    return ApprovalPage(
        title=EVERY_KIND.title(shown),
        command=f"abacus approvals show {shown.approval_id}",
        approval=EVERY_KIND.listed(shown),
        subject=shown.subject,
        digest=shown.digest,
        decided_at=shown.decided_at,
        note=shown.note,
        lapses_at=shown.asked_at + room.terms.pending if open_ else None,
        told=await call.part(EVERY_KIND.told(call, shown)),
        why=(
            "The person who asked for it cannot approve it, nor can a person who got access from there in the last"
            f" {room.terms.tied.days} days."
        ),
        why_not=await _why_not(call, shown),
        may_reject=_may_reject(call, shown),
        is_own=shown.asked_by == call.actor.source,
        trials=trials,
        trials_title=trying.title if trying is not None else "",
        may_try=open_ and trying is not None and trying.ask is not None and not _was_tried(trying, trials),
        try_says=trying.says if trying is not None and (trying.usual is not None or not _found(trials)) else "",
        try_button=trying.button if trying is not None else "",
        trial_page=trying.page if trying is not None and call.may(trying.deed, shown.country) else None,
        trial_page_says=trying.page_says if trying is not None else "",
    )


async def approve(call: Call) -> See:
    """By the digest that stood in the form: that of what was shown."""
    shown = await _open_to(call)
    call.check(Deed.APPROVE, shown.country)
    try:
        await call.rooms[Approvals].approve(shown.approval_id, call.actor, call.form.get("digest"))
        done = "You approved it, and it has taken effect."
    except (CannotDecide, CannotExecute) as error:
        now = await _open_to(call)
        if (now.status, now.decided_by) != (Status.DONE, call.actor.source):  # it was, by another click
            raise call.wrong(error.detail) from None
        done = "You approved it before, and it has taken effect."
    return See(f"/approvals/{shown.approval_id}", done)


async def reject(call: Call) -> See:
    shown, reason = await _open_to(call), call.form.get("reason")
    if not reason or len(reason) > _LONGEST_REASON:
        wrong = "Say why." if not reason else f"At most {_LONGEST_REASON} characters; these are {len(reason)}."
        raise call.wrong(reason=wrong)
    await call.rooms[Approvals].reject(shown.approval_id, call.actor, reason)
    done = "You withdrew it." if shown.asked_by == call.actor.source else "You rejected it."
    return See(f"/approvals/{shown.approval_id}", f"{done} Nothing takes effect.")


async def attempt(call: Call) -> See:
    """Has exactly this tried, as is usual for its kind."""
    shown = await _open_to(call)
    trying = _trying(shown)
    if trying is None or trying.ask is None:
        raise PageFault("not-found", "This approval is about nothing that can be tried.")
    return await trying.ask(call, _path(shown)) or See(_path(shown))


async def _open_to(call: Call) -> Approval:
    """Raises `PageFault` for an approval that the person may not see."""
    found: Approval | None = await call.rooms[Approvals].find(UUID(str(call.request.path_params["id"])))
    if found is None or not sees(call.actor, found):
        raise PageFault("not-found", "No such approval is open to you.")
    return found


def _path(shown: Approval) -> str:
    return f"/approvals/{shown.approval_id}"


def _was_tried(trying: Trying, trials: Part[Sequence[Trial]] | None) -> bool:
    """Whether the usual trial is there, or under way."""
    return any(each.done.errand.kind == trying.usual for each in _found(trials))


def _found(trials: Part[Sequence[Trial]] | None) -> Sequence[Trial]:
    return (trials.value if trials is not None else None) or ()


def _trying(shown: Approval) -> Trying | None:
    """None where the kind has no trials, or the document was erased."""
    telling = EVERY_KIND.of(shown)
    if telling is None:
        return None
    try:
        if telling.trying is not None:
            return telling.trying(shown, document_of(shown))
        if telling.drafts is not None and telling.drafts.approved is not None:
            return trying_of(telling.drafts, telling.drafts.approved(document_of(shown)))
    except UNREADABLE:
        return None
    return None


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

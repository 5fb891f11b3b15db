"""What took somebody's word: movements by hand, documents that people agree to, approvals and who decided. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.core.sources import is_by_hand, is_login, is_person, partner_of, person_source
from abacus.ledger.types.kinds import ON_WORD, TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.people.decide.agreement import digest_of
from abacus.people.types.approval import Approval, ApprovalKind, Status
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Adjusted, Reversed

_LOGGED_SINCE: Final = 3  # the format of transfers; people, approvals and the log are older by a little
_TOOK_EFFECT: Final = frozenset({Status.APPROVED, Status.DONE})
MOVING: Final = (ApprovalKind.ADJUSTMENT, ApprovalKind.REVERSAL)


class Logged(NamedTuple):
    """What the log says of a movement: its points, how many one person might move alone, and who approved it."""

    points: int
    alone: int | None
    approved_by: str | None

    @classmethod
    def of(cls, details: Mapping[str, Any]) -> "Logged":
        alone = details.get("alone")
        return cls(details.get("points", 0), alone if isinstance(alone, int) else None, details.get("approved_by"))


def takes_a_word(transfer: Transfer) -> bool:
    """Whether the log has to have an entry of it: somebody of the house did it, or a partner adjusted or took back."""
    source = transfer.source
    if source is None or transfer.format < _LOGGED_SINCE:
        return False
    return is_by_hand(source) or (transfer.kind in ON_WORD and partner_of(source) is not None)


def approver_of(transfer: Transfer) -> str | None:
    """The second person that the transfer's explanation names."""
    if transfer.kind not in ON_WORD:
        return None
    try:
        explanation = read(transfer.explanation)
    except SetAside:  # recomputing tells
        return None
    return explanation.approved_by if isinstance(explanation, Adjusted | Reversed) else None


def faults_of_movement(transfer: Transfer, logged: Logged | None, approvals: Mapping[str, Approval]) -> Iterator[str]:
    """The faults of a movement that `takes_a_word`; `approvals`, by subject, took effect."""
    approver = approver_of(transfer)
    if logged is None:
        yield "the log has no entry of it"
    elif (logged.points, logged.approved_by) != (transfer.points, approver):
        yield (
            f"the log has it with {logged.points} points, approved by {logged.approved_by}; it has {transfer.points},"
            f" approved by {approver}"
        )
    elif approver is None and logged.alone is not None and abs(transfer.points) > logged.alone:
        yield f"nobody approved its {transfer.points} points; more than {logged.alone} take a second person"
    if approver is not None:
        approval = approvals.get(transfer.key)
        if approval is None or approval.decided_by != person_source(approver):
            yield f"{approver} approved it, it says, and no approval of {approver} lets it happen"
        elif not _is_what_was_approved(transfer, approval):
            yield f"it is not what the approval {approval.approval_id} lets happen"


def _is_what_was_approved(transfer: Transfer, approval: Approval) -> bool:
    try:
        document = dict(json.loads(approval.document))
    except (TypeError, ValueError):
        return False
    if transfer.kind == TransferKind.ADJUST:
        kind, points = ApprovalKind.ADJUSTMENT, transfer.points
    else:
        explanation = read(transfer.explanation)
        kind, points = ApprovalKind.REVERSAL, explanation.due if isinstance(explanation, Reversed) else 0
    asked = (document.get("member_id"), document.get("program"), document.get("points", document.get("part")))
    return approval.kind == kind and asked == (transfer.member_id, transfer.program, points)


class Decided(NamedTuple):
    """An approval, and what other tables say of it: whether the decider is one of the people, whether the log has that
    this person approved this digest, and whether its movement was posted.
    """

    approval: Approval
    before_people: bool
    is_person: bool
    is_logged: bool
    is_posted: bool


def took_effect(approval: Approval) -> bool:
    return approval.status in _TOOK_EFFECT


def faults_of_approval(decided: Decided) -> Iterator[str]:
    approval, by = decided.approval, decided.approval.decided_by
    if approval.digest != digest_of(approval.kind, approval.subject, approval.country, approval.document):
        yield "its digest is not that of what it says"
    if approval.status == Status.DONE and approval.kind in MOVING and not decided.is_posted:
        yield f"it is done, and nothing is posted under {approval.subject}"
    if not took_effect(approval) or decided.before_people:
        return
    if by is None or not is_person(by):
        yield f"it is {approval.status}, and no person decided: {by or 'nobody'}"
    elif not decided.is_person:
        yield f"{by} approved it, who is not one of the people"
    elif by == approval.asked_by:
        yield f"{by} asked for it and approved it"
    elif not decided.is_logged:
        yield f"the log does not have that {by} approved it as it is"
    if is_login(approval.asked_by):
        yield f"{approval.asked_by} asked for it, which is a login and no person"


class InForce(NamedTuple):
    """A version that was in force: its document, and who approved it as it says itself."""

    name: str
    version: int
    document: str
    approved_by: str | None


class Agreed(NamedTuple):
    """An approval of the document that took effect: who decided, and the text that was agreed to."""

    decided_by: str | None
    document: str


def faults_of_version(word: str, version: InForce, agreed: Iterable[Agreed]) -> Iterator[str]:
    """The faults of a version, beside all approvals of its document that took effect. `word` names the kind."""
    by = version.approved_by
    if by is None:
        yield "it was in force, and nobody approved it"
        return
    content = {word: json.loads(version.document), "version": version.version}
    documents = [each.document for each in agreed if each.decided_by == by]
    if not documents:
        yield f"{by} approved it, it says, and no approval of {by} lets it run"
    elif content not in list(map(_read, documents)):
        yield f"it is not what {by} approved"


def _read(document: str) -> object:
    try:
        return json.loads(document)
    except ValueError:
        return None

"""What two people have to agree on: the digest of a request, and who may decide on it. Pure."""

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final

from abacus.core.errors import Refused
from abacus.core.sources import is_login
from abacus.people.decide.independence import tie, told
from abacus.people.decide.rights import check, countries_of
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Proposal, Status
from abacus.people.types.deed import Deed
from abacus.people.types.person import Access, Actor

SHORTEST_DIGEST: Final = 8
_DIGEST: Final = re.compile(rf"[0-9a-f]{{{SHORTEST_DIGEST},64}}")
_OTHERS_AFTER: Final = timedelta(minutes=1)  # long after carrying it out has ended, one way or the other
_OPEN: Final = frozenset({Status.PENDING, Status.APPROVED})


class OnAsk(Enum):
    """What becomes of the earlier approval of a subject that is asked for again."""

    KEEP = auto()  # it is the same
    REPLACE = auto()  # it is void, and the new one pending


def canonical(document: Any) -> str:
    """The one text of a JSON document."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest_of(kind: str, subject: str, country: str | None, document: str) -> str:
    """SHA-256 over all that the approver agrees to."""
    return hashlib.sha256(canonical([kind, subject, country, document]).encode()).hexdigest()


def on_ask(earlier: Approval, proposal: Proposal) -> OnAsk:
    """`earlier` is the approval with the id of the proposal, or the open one of its subject. Raises `CannotDecide`."""
    same = earlier.digest == digest_of(*proposal[:3], proposal.document)
    if proposal.once is not None or same:
        return OnAsk.KEEP
    if earlier.status == Status.APPROVED:
        raise CannotDecide("approval-decided", f"another one of {earlier.subject} is approved and being carried out")
    return OnAsk.REPLACE


def sees(actor: Actor, approval: Approval) -> bool:
    """Whether the person may look at it: in a country that its roles open, or because it asked for it."""
    countries = countries_of(actor, Deed.SEE)
    return countries is None or approval.country in countries or approval.asked_by == actor.source


def check_asks(source: str) -> None:
    """Whether this source may ask for what needs a second person: a login may not, because it can be that person too.
    Raises `CannotDecide`.
    """
    if is_login(source):
        detail = f"{source} is a login and no person: asking for this takes the token of a person in ABACUS_TOKEN"
        raise CannotDecide("person-needed", detail)


def check_approves(approval: Approval, by: Actor, digest: str, now: datetime) -> None:
    """Whether this person may approve it, by the digest that it was shown. What was approved and cut off is finished by
    the person who approved it, and after a while by any approver. Raises `CannotDecide`.
    """
    _check_may_decide(approval, by)
    check_asks(approval.asked_by)
    if by.source == approval.asked_by:
        raise CannotDecide("second-person-needed", f"{by.name} asked for it; somebody else has to approve it")
    if not _DIGEST.fullmatch(digest):
        raise CannotDecide("digest-mismatch", f"name at least {SHORTEST_DIGEST} characters of the digest that you saw")
    if not approval.digest.startswith(digest):
        raise CannotDecide("digest-mismatch", f"this is {approval.digest[:16]}, not {digest[:16]}: look at it again")
    under_way = (
        approval.decided_by != by.source
        and approval.decided_at is not None
        and now < approval.decided_at + _OTHERS_AFTER
    )
    _check_in_time(approval)
    if approval.status not in _OPEN or (approval.status == Status.APPROVED and under_way):
        raise CannotDecide("approval-decided", _state(approval))


def check_independent(approval: Approval, by: Actor, given: Iterable[Access], now: datetime, lasts: timedelta) -> None:
    """Whether this person's agreement says anything beside the asker's; `given` is the access that people gave each
    other of late. What is agreed on already is carried out by any approver. Raises `CannotDecide`.
    """
    tied = tie(approval.asked_by, by.source, given, now, lasts) if approval.status == Status.PENDING else None
    if tied is not None:
        raise CannotDecide("not-independent", told(tied, approval.asked_by, by.source, lasts))


def check_rejects(approval: Approval, by: Actor) -> None:
    """Whether this actor may reject it, or withdraw what it asked for itself. Raises `CannotDecide`."""
    if by.source != approval.asked_by:
        _check_may_decide(approval, by)
    _check_in_time(approval)
    if approval.status != Status.PENDING:
        raise CannotDecide("approval-decided", _state(approval))


def check_unchanged(approval: Approval, document: str) -> None:
    """Whether the document is exactly what was approved. Raises `CannotExecute`.

    For an executor, with the document of what it is about to do.
    """
    if digest_of(approval.kind, approval.subject, approval.country, document) != approval.digest:
        raise CannotExecute("it is not what was approved any more")


def _check_may_decide(approval: Approval, by: Actor) -> None:
    try:
        check(by, Deed.APPROVE, approval.country)
    except Refused as fault:
        raise CannotDecide("role-needed" if by.is_authenticated else "person-needed", str(fault)) from None


def _check_in_time(approval: Approval) -> None:
    if approval.status == Status.EXPIRED:
        raise CannotDecide(
            "approval-expired", f"it is {approval.status}: {approval.note}; it has to be asked for again"
        )


def _state(approval: Approval) -> str:
    by = f", by {approval.decided_by}" if approval.decided_by is not None else ""
    return f"it is {approval.status}{by}"

"""How the approval of a contact policy is told: what it changes against the policy in force."""

from typing import Any, Final

from abacus.approving.contact_desk import ContactDesk
from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changes_of, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.contact.contact_policies import CONTACT_REGISTER
from abacus.console.web.calls import Call
from abacus.documents.form.sentences import sentences
from abacus.engage.notify.decide.contact_document import parse_policy, to_document
from abacus.engage.notify.decide.contact_form import CONTACT_FORM
from abacus.people.types.approval import Approval, ApprovalKind, Status

_WHY: Final = "A contact policy holds for every message to the members of its country, so it always takes two people."


def _title(approval: Approval, _: Any) -> str:
    return f"Contact policy of {approval.subject}"


async def _told(call: Call, approval: Approval, document: Any) -> Told:
    policy = parse_policy(document)
    pending = approval.status == Status.PENDING
    before = await call.rooms[ContactDesk].displaced(policy) if pending else None
    return Told(
        why=_WHY,
        sentences=sentences(CONTACT_FORM, to_document(policy)),
        changes=changes_of(CONTACT_FORM, to_document(before.document) if before else None, to_document(policy)),
        against=before.document.label if before is not None else None,
        about=[Named("contact", policy.country)],
        everything=everything_of(document),
    )


CONTACT: Final = Telling(
    kind=ApprovalKind.CONTACT_POLICY,
    noun="Contact policy",
    title=_title,
    told=_told,
    drafts=CONTACT_REGISTER.drafts,
)

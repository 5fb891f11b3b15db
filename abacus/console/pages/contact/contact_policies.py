"""Contact policies: caps, quiet hours and the holdout of each country."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.approving.contact_desk import ContactDesk
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import Register
from abacus.documents.form.example import example
from abacus.engage.notify.decide.contact_document import parse_policy
from abacus.engage.notify.decide.contact_form import CONTACT_FORM
from abacus.engage.notify.decide.contact_policy import ContactPolicy
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.people.types.approval import ApprovalKind
from abacus.pricing.decide.countries import Countries


def _beside(document: Mapping[str, Any], _: Sequence[ContactPolicy]) -> Mapping[str, Any]:
    """Each country has one policy: a copy is for another one."""
    return {**document, "country": ""}


def _caps(policy: ContactPolicy) -> str:
    return "; ".join(f"{kind} over {channel}: {cap}" for (channel, kind), cap in policy.caps.items()) or "none"


CONTACT_REGISTER: Final[Register[ContactPolicy, Countries]] = Register(
    drafts=DraftKind(
        kind=CONTACT_POLICIES,
        desk=lambda rooms: rooms[ContactDesk],
        about="It holds for every message to a member. Another person approves exactly what stands here.",
        begin=lambda _: CONTACT_POLICIES.write(example(CONTACT_FORM)),
        submit="Submit for approval",
        beside=_beside,
        page=lambda policy: f"/contact/{policy.country}",
        approval=ApprovalKind.CONTACT_POLICY,
        approved=parse_policy,
    ),
    title="Contact",
    about="How often members are told what, when they are left alone, and how many are held out.",
    columns={
        "caps": _caps,
        "quiet hours": lambda policy: "none" if policy.quiet_hours is None else str(policy.quiet_hours),
        "holdout": lambda policy: f"{policy.holdout} %",
    },
)

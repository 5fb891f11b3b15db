"""Contact policies on the command line: their desk, and drafts in files."""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final

from abacus.approving.contact_desk import ContactDesk
from abacus.cli.documents.drafts import FilePlan
from abacus.cli.documents.family import Family
from abacus.cli.people.approvals import document as approval_document
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.documents.types import DraftOutcome
from abacus.engage.notify.decide.contact_policy import ContactPolicy
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.pricing.decide.countries import Countries


def _desk(at: CommandActor) -> AbstractAsyncContextManager[ContactDesk]:
    return nullcontext(ContactDesk(at.pool, at.clock, large_moves(at.pool, at).approvals))


def _told(outcome: DraftOutcome[ContactPolicy]) -> str:
    if (approval := outcome.approval) is None:
        return f"{outcome.label} published"
    return f"{approval.status}: another person approves it with `abacus approvals approve {approval.approval_id}`"


def _row(plan: FilePlan[ContactPolicy], outcome: DraftOutcome[ContactPolicy]) -> dict[str, Any]:
    approval = None if outcome.approval is None else approval_document(outcome.approval)
    told = {"file": plan.file, "name": plan.difference.label, "against": plan.against, "changes": plan.changes}
    return {**told, "approval": approval}


FAMILY: Final = Family(
    kind=CONTACT_POLICIES,
    desk=_desk,
    offline=Countries,
    metavar="COUNTRY",
    files="Contact policies, in TOML or JSON.",
    drafts="contact policies",
    one="a contact policy",
    nothing_new="the policies are in force already",
    sentence=lambda policy: f"contact policy of {policy.country}",
    told=_told,
    row=_row,
    done=lambda rows: {"submitted": rows},
)

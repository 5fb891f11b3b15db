"""Versions that wait for a second person, on the command line."""

from typing import Any

from abacus.cli.documents.drafts import FilePlan
from abacus.cli.people.approvals import document as approval_document
from abacus.documents.types import DraftOutcome
from abacus.people.types.approval import Approval


def submitted(label: str | None, approval: Approval | None) -> str:
    waits = approval and approval.approval_id
    return f"{label} is submitted: another person approves it with `abacus approvals approve {waits}`"


def submission(label: str | None, approval: Approval | None) -> dict[str, Any]:
    """In JSON."""
    return {"name": label, "approval": approval and approval_document(approval)}


def submission_row(plan: FilePlan[Any], outcome: DraftOutcome[Any]) -> dict[str, Any]:
    """Of a submitted draft, in JSON."""
    changed = {"file": plan.file, "against": plan.against, "changes": plan.changes}
    return changed | submission(outcome.label, outcome.approval)

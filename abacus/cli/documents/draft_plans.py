"""What the commands of all documents print alike: faults, differences, and what publishing would change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from abacus.cli.documents.drafts import FilePlan
from abacus.cli.terminal.answer import Answer, Line
from abacus.cli.terminal.draft_files import FileFault, error_of, fault_documents
from abacus.core.errors import Refused
from abacus.documents.types import Document
from abacus.engage.campaigns.decide.granting import GrantedBy

Say = Callable[[str], None]


def linted(valid: Mapping[str, str], faults: Sequence[FileFault]) -> Answer:
    """A sentence for each file without faults, and every fault of the others."""
    document = {"valid": list(valid), "faults": fault_documents(faults)}
    lines = (f"{file}: {sentence}, no faults" for file, sentence in valid.items())
    return Answer(document, *lines, error=error_of(faults))


def compared(file: str, against: str | None, changes: Sequence[str], granted: GrantedBy | None = None) -> Answer:
    """`granted` tells which campaigns grant the document, of a kind that they do."""
    lines = changes or [f"{file}: nothing changes against {against}"]
    document = {"file": file, "against": against, "changes": changes}
    return Answer(document | granted_document(granted), *lines, *granted_lines(granted))


def granted_document(granted: GrantedBy | None) -> dict[str, object]:
    return {} if granted is None else granted.document


def granted_lines(granted: GrantedBy | None) -> list[Line]:
    """A warning where something is refused."""
    if granted is None or not granted.campaigns:
        return []
    return [Line(granted.words, "yellow" if granted.refused else "default")]


def say_changes(plans: Sequence[FilePlan[Any]], say: Say) -> None:
    for plan in plans:
        until = [f"until {plan.until} takes over"] if plan.until else []
        lines = [*plan.changes, *until] if plan.changes else ["nothing changes"]
        say("\n".join([f"{plan.file} against {plan.against or 'nothing'}:", *(f"  {line}" for line in lines)]))


def agreed(plans: Sequence[FilePlan[Document]], what: str, *, ask: bool, say: Say) -> list[FilePlan[Document]]:
    """Says what each plan changes, asks, and returns the plans that change anything. Raises `Refused`; `what` says what
    is published already where nothing changes.
    """
    say_changes(plans, say)
    changing = [plan for plan in plans if plan.changes]
    if not changing:
        raise Refused(f"nothing to publish: {what}")
    if ask and not typer.confirm("Publish?", err=True):
        raise Refused("nothing published")
    return changing


def unchanged(plans: Sequence[FilePlan[Any]]) -> list[str]:
    """The files whose drafts are published already."""
    return [plan.file for plan in plans if not plan.changes]

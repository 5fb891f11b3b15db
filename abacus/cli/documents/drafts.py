"""Draft documents: read from files, and judged beside each other and what is published."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple

from abacus.cli.terminal.draft_files import FileFault, document_in, refuse
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around, DocumentKind
from abacus.documents.types import Difference, Document, Key


class FileDraft(NamedTuple, Generic[Document]):
    """A document that is not published, and its file."""

    file: str
    document: Document


class FilePlan(NamedTuple, Generic[Document]):
    """What publishing the draft of a file changes. `against` and `until` name versions, or files of drafts."""

    file: str
    difference: Difference[Document]
    against: str | None
    until: str | None

    @property
    def changes(self) -> Sequence[str]:
        return self.difference.changes


class Judged(NamedTuple, Generic[Document, Around]):
    """How drafts are read, and what they are judged by: what is around them, and the documents beside them."""

    read: Callable[[Mapping[str, object], Around], Awaitable[Document]]
    around: Around
    beside: Mapping[Key, Document]


async def judged_by(desk: DocumentDesk[Document, Around]) -> Judged[Document, Around]:
    """What is published."""
    return Judged(desk.read, await desk.around(), await desk.neighbours())


async def read_drafts(
    files: Sequence[Path], kind: DocumentKind[Document, Around], judged: Judged[Document, Around]
) -> tuple[list[FileDraft[Document]], list[FileFault]]:
    """The drafts of the files without faults, and the faults of the others. Each is judged beside earlier drafts."""
    read: list[FileDraft[Document]] = []
    faults: list[FileFault] = []
    for path in files:
        try:
            read.append(FileDraft(str(path), await judged.read(document_in(path), judged.around)))
        except DocumentFaults as error:
            faults += [FileFault(path, fault) for fault in error.faults]
    drafts: list[FileDraft[Document]] = []
    of_key: dict[Key, str] = {}
    beside = dict(judged.beside)
    for file, draft in read:
        key = kind.key(draft)
        found = kind.check(draft, beside.values(), judged.around)
        if key in of_key and kind.name_field is not None:
            found = [Fault(kind.name_field, f"{of_key[key]} is a draft of {key} too")]
        faults += [FileFault(Path(file), fault) for fault in found]
        if not found:
            drafts.append(FileDraft(file, draft))
            of_key[key], beside[key] = file, draft
    return drafts, faults


async def faultless(
    files: Sequence[Path], kind: DocumentKind[Document, Around], judged: Judged[Document, Around]
) -> list[FileDraft[Document]]:
    """The drafts of these files. Raises `DocumentFaults` with every fault of each."""
    drafts, faults = await read_drafts(files, kind, judged)
    refuse(faults)
    return drafts


def file_plans(
    drafts: Sequence[FileDraft[Document]], differences: Sequence[Difference[Document]]
) -> list[FilePlan[Document]]:
    """A version that a draft before becomes has the name of its file."""
    names: dict[str | None, str] = {}
    plans = []
    for draft, each in zip(drafts, differences, strict=True):
        against, until = (names.get(label, label) for label in (each.against, each.until))
        plans.append(FilePlan(draft.file, each, against, until))
        if each.label is not None:
            names[each.label] = draft.file
    return plans

"""What a command looks at: the document of a file, or a published version."""

from pathlib import Path

from abacus.cli.documents.drafts import Judged, faultless
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import Around
from abacus.documents.types import Document


def is_file(which: str) -> bool:
    """Whether it names a file, and no version."""
    return Path(which).suffix in {".toml", ".json"}


async def chosen(which: str, desk: DocumentDesk[Document, Around], around: Around) -> Document:
    """Raises `Refused` and `DocumentFaults`."""
    if not is_file(which):
        return (await desk.version(which)).document
    (draft,) = await faultless([Path(which)], desk.kind, Judged(desk.read, around, {}))
    return draft.document

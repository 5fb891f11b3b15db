"""The documents of a kind, as each process keeps them: read in the background, and at once when one is published."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from abacus.documents.kind import DocumentKind
from abacus.documents.types import Document, Record, documents, marked
from abacus.platform.fresh_copy import USUAL, FreshCopy, Timing

Served = TypeVar("Served")
Load: TypeAlias = Callable[[Mapping[str, Document]], Awaitable[Sequence[Record[Document]]]]


class DocumentDirectory(FreshCopy[Sequence[Record[Document]], Served], Generic[Document, Served]):
    """Serves what `build` makes of the latest version of each document.

    A document stays the same object from one reading to the next, and so does what is served while nothing is
    published, so values that callers keep for it stay good. `load` gets the documents that are known, by mark.
    """

    def __init__(
        self,
        kind: DocumentKind[Document, Any],
        load: Load[Document],
        build: Callable[[Sequence[Document]], Served],
        timing: Timing = USUAL,
    ) -> None:
        async def latest(before: Sequence[Record[Document]] | None) -> Sequence[Record[Document]]:
            return await load(marked(before or ()))

        super().__init__(kind.plural, latest, lambda records: build(documents(records)), timing)

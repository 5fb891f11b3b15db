"""Documents, as each process keeps them: read in the background, and at once when one is published."""

from collections.abc import Callable
from typing import Any

from abacus.documents.kind import DocumentKind
from abacus.documents.moment import NOTHING_READ, Moment, read_moment
from abacus.platform.fresh_copy import USUAL, Cadence, FreshCopy, Value
from abacus.platform.postgres import Pool


class DocumentDirectory(FreshCopy[Moment, Value]):
    """Serves what `build` makes of the documents of a kind, and of other kinds at the same moment.

    A document stays the same object from one reading to the next, and so does what is served while nothing is
    published, so values that callers keep for it stay good.
    """

    def __init__(
        self,
        pool: Pool,
        kind: DocumentKind[Any, Any],
        build: Callable[[Moment], Value],
        *beside: DocumentKind[Any, Any],
        cadence: Cadence = USUAL,
    ) -> None:
        async def load(before: Moment | None) -> Moment:
            return await read_moment(pool, kind, *beside, before=before or NOTHING_READ)

        super().__init__(kind.plural, load, build, cadence)

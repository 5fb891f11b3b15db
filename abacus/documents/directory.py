"""Documents, as each process keeps them: read at one moment in the background, and at once when one is published."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.documents.kind import DocumentKind
from abacus.documents.store import Reader
from abacus.documents.types import Document, Record, documents, marked
from abacus.platform.fresh_copy import USUAL, Cadence, FreshCopy, Value
from abacus.platform.postgres import Pool, passing_failures

_ONE_MOMENT: Final[Mapping[str, Any]] = {"isolation": "repeatable_read", "readonly": True}


class Moment(NamedTuple):
    """The latest version of each document of some kinds, by the tables of the kinds."""

    records: Mapping[str, Sequence[Record[Any]]] = MappingProxyType({})

    def of(self, kind: DocumentKind[Document, Any]) -> list[Document]:
        """The documents of a kind; none of a kind that was not read."""
        return documents(self.records.get(kind.table.name, ()))

    def known(self, kind: DocumentKind[Document, Any]) -> dict[str, Document]:
        """The same by the marks of their versions: they need not be read again."""
        return marked(self.records.get(kind.table.name, ()))


NOTHING_READ: Final = Moment()


async def read_moment(pool: Pool, *kinds: DocumentKind[Any, Any], before: Moment = NOTHING_READ) -> Moment:
    """A document that was read `before` stays the same object. Raises `Unavailable`."""
    async with passing_failures(), pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
        return Moment({kind.table.name: await Reader(kind).latest(connection, before.known(kind)) for kind in kinds})


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
        self.tables = [each.table.name for each in (kind, *beside)]  # whose changes are read

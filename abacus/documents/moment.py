"""The documents of several kinds, read at one moment."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.documents.kind import DocumentKind
from abacus.documents.store import Reader
from abacus.documents.types import Document, Record, documents, marked
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

"""Versions in force, as each process keeps them: read in the background, and at once when one is changed."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

from abacus.core.clock import Clock
from abacus.documents.directory import NOTHING_READ, Moment, read_moment
from abacus.documents.kind import DocumentKind
from abacus.documents.stated import Running
from abacus.documents.stated_store import StatedStore
from abacus.platform.fresh_copy import Cadence, FreshCopy, Value
from abacus.platform.postgres import Pool

_CADENCE = Cadence(load_within_s=30.0)


class InUse(NamedTuple, Generic[Running]):
    """The versions in force, and the documents of other kinds beside them."""

    versions: Sequence[Running]
    beside: Moment


class StatedDirectory(FreshCopy[InUse[Running], Value], Generic[Running, Value]):
    """Serves what `build` makes of the versions in force, as `DocumentDirectory` does of the latest. The kinds `beside`
    are read after them, so that no version is judged by older documents than it was approved by.
    """

    def __init__(
        self,
        pool: Pool,
        store: StatedStore[Running, Any],
        clock: Clock,
        build: Callable[[InUse[Running]], Value],
        *beside: DocumentKind[Any, Any],
        kept: Callable[[Running], Running],
    ) -> None:
        """`kept` is what a process keeps of a version, which stays the same object from one reading to the next."""

        async def load(before: InUse[Running] | None) -> InUse[Running]:
            known = {each.label: each for each in before.versions} if before is not None else {}
            read = await store.in_force(clock.now(), known)
            versions = [each if each.label in known else kept(each) for each in read]
            moment = before.beside if before is not None else NOTHING_READ
            return InUse(versions, await read_moment(pool, *beside, before=moment))

        super().__init__(store.kind.plural, load, build, _CADENCE)
        self.tables = [each.table.name for each in (store.kind, *beside)]  # whose changes are read

"""Places on their way from a file to the store: every document is judged before the first is stored, and what was
judged lies on disk meanwhile, so that a file may be larger than memory and change under our hands.
"""

import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_document import Priced, parse_place
from abacus.signals.places.place_files import Entry, Unreadable

PAGE: Final = 10_000  # places that are stored in one transaction


class BadEntry(NamedTuple):
    """One thing that is wrong with a line or a feature. `field` is empty where it is about the whole of it."""

    where: str
    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field + ': ' if self.field else ''}{self.problem}"


class Judged(NamedTuple):
    """How many entries a file has, how many of them are bad, with how many faults, and the good ones by country."""

    total: int
    bad: int
    faults: int
    countries: Mapping[str, int]


class Spool:
    """Pages of places, in their order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sizes: list[int] = []

    def add(self, page: Sequence[Place]) -> None:
        self._sizes.append(self._file.write(marshal.dumps(list(map(tuple, page)))))

    def pages(self) -> Iterator[Sequence[Place]]:
        self._file.seek(0)
        for size in self._sizes:
            yield list(map(Place._make, marshal.loads(self._file.read(size))))  # noqa: S302  # nobody else writes to it


@contextmanager
def spooling() -> Iterator[Spool]:
    with TemporaryFile() as file:
        yield Spool(file)


def judge(
    entries: Iterable[Entry | Unreadable],
    priced: Priced,
    spool: Spool,
    tell: Callable[[BadEntry], None],
    tick: Callable[[], None],
    *,
    page: int = PAGE,
) -> Judged:
    """Reads all entries, tells every fault, and spools the places of good ones. `tick` is called now and then."""
    total = bad = told = 0
    countries = Counter[str]()
    first: dict[str, str] = {}
    some: list[Place] = []
    for entry in entries:
        total += 1
        faults, place = _judged(entry, priced, first)
        if place is None:
            bad += 1
            told += len(faults)
            for each in faults:
                tell(each)
        else:
            countries[place.country] += 1
            some.append(place)
        if len(some) == page:
            spool.add(some)
            some = []
        if total % page == 0:
            tick()
    if some:
        spool.add(some)
    return Judged(total, bad, told, countries)


def _judged(
    entry: Entry | Unreadable, priced: Priced, first: dict[str, str]
) -> tuple[Sequence[BadEntry], Place | None]:
    """`first` has where each id stood first."""
    if isinstance(entry, Unreadable):
        return [BadEntry(entry.where, "", entry.why)], None
    try:
        place = parse_place(entry.document, priced)
    except DocumentFaults as error:
        return [BadEntry(entry.where, *fault) for fault in error.faults], None
    if (earlier := first.setdefault(place.id, entry.where)) is not entry.where:
        return [BadEntry(entry.where, "id", f"{place.id!r} stands at {earlier} already")], None
    return (), place

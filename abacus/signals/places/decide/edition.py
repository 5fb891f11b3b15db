"""Editions of a country's regions, and how two differ. Pure."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.signals.places.decide.region import Region, RegionName
from abacus.signals.places.decide.shape_bytes import digest_of, read_shape, shape_bytes

_ALL = 100


class Edition(NamedTuple):
    """All regions of a country, as they were loaded together. The highest number that came in force is in force."""

    country: str
    number: int
    size: int
    loaded_at: datetime
    loaded_by: str
    in_force_at: datetime | None
    approved_by: str | None

    @property
    def label(self) -> str:
        return f"{self.country}@{self.number}"


class Entered(NamedTuple):
    """A region as an edition has it, with the digest of its shape."""

    name: RegionName
    shape: bytes

    @property
    def about(self) -> Mapping[str, object]:
        """What people may change of it."""
        _, name, kind, priority, _ = self.name
        return {"name": name, "kind": kind, "priority": priority, "shape": self.shape}


class Drawn(NamedTuple):
    """The regions of a country by their ids, and their shapes by digest."""

    entries: Sequence[Entered]
    shapes: Mapping[bytes, bytes]

    def regions(self) -> Iterator[Region]:
        return (Region(*name, read_shape(self.shapes[shape])) for name, shape in self.entries)


class Changed(NamedTuple):
    """A region that both editions have, and what is not the same."""

    before: Entered
    after: Entered

    @property
    def what(self) -> list[str]:
        before = self.before.about
        return [name for name, value in self.after.about.items() if value != before[name]]


class Difference(NamedTuple):
    """What an edition changes of the one in force, by ids. `before` counts the regions in force."""

    country: str
    before: int
    added: Sequence[Entered]
    changed: Sequence[Changed]
    removed: Sequence[Entered]

    @property
    def size(self) -> int:
        return len(self.added) + len(self.changed) + len(self.removed)

    @property
    def counts(self) -> dict[str, int]:
        return {"added": len(self.added), "changed": len(self.changed), "removed": len(self.removed)}

    def takes_second_person(self, above: int) -> bool:
        """Whether it changes more hundredths of the regions in force than this. The first edition changes none."""
        return self.before > 0 and self.size * _ALL > self.before * above


def drawn(regions: Iterable[Region]) -> Drawn:
    shapes: dict[bytes, bytes] = {}
    entries = []
    for region in sorted(regions, key=lambda each: each.id):
        shape = shape_bytes(region.parts)
        digest = digest_of(shape)
        shapes[digest] = shape
        entries.append(Entered(region.called, digest))
    return Drawn(entries, shapes)


def digest_of_all(entries: Iterable[Entered]) -> str:
    """A digest over all that is said of the regions, and their shapes."""
    digest = hashlib.blake2b(digest_size=16)
    for name, shape in sorted(entries, key=lambda each: each.name.id):
        digest.update("\x1f".join(map(str, name)).encode())
        digest.update(shape)
    return digest.hexdigest()


def difference(country: str, before: Iterable[Entered], after: Iterable[Entered]) -> Difference:
    old, new = ({each.name.id: each for each in entries} for entries in (before, after))
    return Difference(
        country,
        len(old),
        [each for id_, each in new.items() if id_ not in old],
        [Changed(old[id_], each) for id_, each in new.items() if id_ in old and old[id_] != each],
        [each for id_, each in old.items() if id_ not in new],
    )

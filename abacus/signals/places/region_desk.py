"""The one door to regions: they are read, compared, loaded and looked up here, with the log."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, ParamSpec, Protocol, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.recent import Recent
from abacus.core.sources import Agent
from abacus.documents.directory import read_moment
from abacus.people.decide.agreement import canonical, check_asks
from abacus.people.decide.rights import check
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.approval import Approval, ApprovalKind, Proposal
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.pricing.kind import CARDS
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.edition import Difference, Drawn, Edition, Entered, difference, digest_of_all, drawn
from abacus.signals.places.decide.index_bytes import index_of
from abacus.signals.places.decide.place_document import usual_country
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Region, RegionName
from abacus.signals.places.decide.region_file import AtFeature, RegionDocument, Usual, read_regions
from abacus.signals.places.kind import MAPS, maps_at
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.region_store import Loading, Prepared, RegionStore, Waiting

Given = ParamSpec("Given")
Made = TypeVar("Made")
Tell = Callable[[float], None]

_MOST_KEPT: Final = 100_000  # regions, of the editions that were looked at last
_TOLD: Final = 50  # ids of regions that are added, changed or removed


def silent(_: float) -> None:
    """Tells nobody how far it is."""


class Read(NamedTuple):
    """The regions of a file by country, and what was mended."""

    by_country: Mapping[str, Drawn]
    mended: Sequence[AtFeature]


class Compared(NamedTuple):
    """The regions of a country in a file, and what they change. `takes_second_person`: more than the map allows."""

    drawn: Drawn
    difference: Difference
    takes_second_person: bool
    compared_with: int  # the number of the edition in force, 0 if there is none


class Loaded(NamedTuple):
    """What became of the regions of a country. They are no new edition where they change nothing."""

    difference: Difference
    number: int | None
    approval: Approval | None


class Found(NamedTuple):
    """A region in force, and its edition."""

    edition: Edition
    region: Region


class Apart(Protocol):
    """Runs a function that takes long beside the loop. The function of a process, and all that goes to and fro, has to
    be picklable.
    """

    def __call__(
        self, function: Callable[Given, Made], /, *given: Given.args, **named: Given.kwargs
    ) -> Awaitable[Made]: ...


class RegionDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done. With
    `people_required` a login may change nothing. Who answers others meanwhile reads and builds in a process, `apart`.
    """

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        approvals: Approvals,
        *,
        people_required: bool = False,
        apart: Apart = asyncio.to_thread,
    ) -> None:
        self._apart = apart
        self._pool = pool
        self._clock = clock
        self._approvals = approvals
        self._people_required = people_required
        self._store = RegionStore(pool)
        self._kept: Recent[tuple[str, int], Mapping[str, Entered]] = Recent(_MOST_KEPT)

    async def read(self, given: bytes | RegionDocument, country: str | None = None, tell: Tell = silent) -> Read:
        """The regions of a file, be it decoded or not. A region that names no country is of this one, or of the only
        one with a card. Raises `DocumentFaults`.
        """
        maps = await self._maps()
        if country is not None and country not in maps.countries:
            raise Refused(f"{country} has no rate card; publish one first")
        usual = Usual(usual_country(country, maps.countries), maps, await self._store.ids())
        return await self._apart(read_drawn, given, usual, tell)

    async def compare(self, file: Read) -> list[Compared]:
        """What the regions of each country change."""
        maps, in_force = await self._maps(), await self._store.in_force()
        compared = []
        for country, given in sorted(file.by_country.items()):
            before = await self._store.entries(country, in_force[country]) if country in in_force else []
            made = difference(country, before, given.entries)
            above = maps.of(country).second_person_above
            compared.append(Compared(given, made, made.takes_second_person(above), in_force.get(country, 0)))
        return compared

    def check_loads(self, compared: Sequence[Compared], by: Actor) -> None:
        """Whether the actor may load them all. Raises `Refused`, and `CannotDecide` for a login where a second person
        has to agree.
        """
        for each in compared:
            check(by, Deed.EDIT_PLACES, each.difference.country, people_required=self._people_required)
            if each.takes_second_person:
                check_asks(by.source)

    async def load(self, compared: Compared, by: Actor, tell: Tell = silent) -> Loaded:
        """Puts the regions in force, or asks a second person where they change much."""
        self.check_loads([compared], by)
        return await self.enter(compared, by.agent, tell)

    async def enter(self, compared: Compared, by: Agent, tell: Tell = silent) -> Loaded:
        """The same for a caller that has checked the rights of who loads, such as those of a partner."""
        given, made, waits, compared_with = compared
        if not made.size:
            return Loaded(made, None, None)
        prepared = Prepared(made.country, *given, await self._apart(index_of, given, tell))
        now = self._clock.now()
        subject = f"regions:{made.country}"
        did = {"did": "load-regions", **made.counts}
        entry = entry_of(by.source, Deed.EDIT_PLACES, subject, now, country=made.country, waits=waits or None, **did)
        number = await self._store.load(prepared, Loading(by.source, now, waits, compared_with), noted(entry))
        waiting = Waiting(made.country, number, compared_with)
        approval = await self._approvals.ask(_proposal(made, waiting, given.entries), by) if waits else None
        return Loaded(made, number, approval)

    async def editions(self, country: str | None = None) -> list[Edition]:
        return await self._store.editions(country)

    async def in_force(self, country: str | None = None) -> list[Entered]:
        """The regions in force, of all countries or of one, by id."""
        numbers = await self._store.in_force()
        chosen = numbers if country is None else {country: numbers[country]} if country in numbers else {}
        found = [each for of, number in chosen.items() for each in await self._store.entries(of, number)]
        return sorted(found, key=lambda each: each.name.id)

    async def drawn(self, country: str, ids: Collection[str]) -> list[Region]:
        """Regions in force with their shapes, in the order of these ids."""
        number = (await self._store.in_force()).get(country)
        if number is None:
            return []
        entries = await self._entries(country, number)
        return await self._store.regions(entries[each] for each in ids if each in entries)

    async def find(self, region_id: str) -> Found:
        """A region in force. Raises `Refused` where there is none."""
        for country, ids in (await self._store.ids()).items():
            if region_id in ids:
                editions = await self._store.editions(country)
                edition = next(each for each in editions if each.in_force_at is not None)
                entries = await self._entries(country, edition.number)
                if region_id in entries:
                    (region,) = await self._store.regions([entries[region_id]])
                    return Found(edition, region)
        raise absent("region", region_id, "`abacus places regions list` prints all")

    async def at(self, point: Point) -> "At":
        """The regions in force that a point lies in; where it lies in none, the nearest."""
        directory = RegionDirectory(self._pool)
        await directory.refresh()
        index = directory.value()
        found = index.at(point)
        return At(found, None if found else index.nearest(point))

    async def _entries(self, country: str, number: int) -> Mapping[str, Entered]:
        """The regions of an edition by id. An edition never changes, so it is read once."""
        entries = self._kept.get((country, number))
        if entries is None:
            entries = {each.name.id: each for each in await self._store.entries(country, number)}
            self._kept.put((country, number), entries, weight=len(entries) + 1)
        return entries

    async def _maps(self) -> Maps:
        return maps_at(await read_moment(self._pool, MAPS, CARDS))


class At(NamedTuple):
    """Where a point lies: the regions, or the nearest one and the metres to it."""

    regions: Sequence[RegionName]
    nearest: tuple[RegionName, float] | None


def read_drawn(given: bytes | RegionDocument, usual: Usual, tell: Tell) -> Read:
    """Raises `DocumentFaults`."""
    file = read_regions(given, usual, tell)
    return Read({country: drawn(regions) for country, regions in file.by_country.items()}, file.mended)


def _proposal(made: Difference, waiting: Waiting, entries: Sequence[Entered]) -> Proposal:
    said = f"{len(made.added)} more, {len(made.changed)} changed, {len(made.removed)} fewer"
    return Proposal(
        kind=ApprovalKind.REGIONS,
        subject=made.country,
        country=made.country,
        summary=f"put the regions {made.country}@{waiting.number} in force: {said}, of {made.before}",
        document=approved_document(waiting, entries, _changes(made)),
    )


def _changes(made: Difference) -> dict[str, Any]:
    """How many regions are added, changed and removed, with the ids of some."""
    ids = {
        "added": [each.name.id for each in made.added],
        "changed": [each.after.name.id for each in made.changed],
        "removed": [each.name.id for each in made.removed],
    }
    return {what: {"count": len(those), "ids": those[:_TOLD]} for what, those in ids.items()}


def approved_document(waiting: Waiting, entries: Sequence[Entered], changes: Mapping[str, Any]) -> str:
    """What a second person agrees to: the edition, a digest over all its regions, and what it changes of which one."""
    return canonical({**waiting._asdict(), "digest": digest_of_all(entries), "changes": changes})

"""The one door to segments: they are looked at, loaded, changed, combined and dropped here, with the log."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import absent
from abacus.people.decide.rights import check
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool, nothing_else, together
from abacus.signals.segments.member_files import BATCH
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import NOBODY, Changed, Give, How, Members, Outlook, Segment


class MemberPage(NamedTuple):
    """Members of a version by their numbers, and the number behind which the next page begins. Members that were erased
    are left out.
    """

    segment: Segment
    members: Sequence[str]
    more: int | None


class Sample(NamedTuple):
    """Some members of a version, from all over it."""

    segment: Segment
    members: Sequence[str]


class SegmentDesk:
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done, or may not
    be done by the actor. With `people_required` a login may change nothing.
    """

    def __init__(self, pool: Pool, clock: Clock, *, people_required: bool = False) -> None:
        self._store = SegmentStore(pool)
        self._numbers = MemberNumbers(pool)
        self._clock = clock
        self._people_required = people_required

    async def all(self) -> list[Segment]:
        """The versions in force, by name."""
        return await self._store.all()

    async def latest(self, name: str) -> Segment:
        return await self._store.latest(name)

    async def history(self, name: str) -> list[Segment]:
        """The versions that are kept, the latest first; one of them says where the segment was dropped."""
        history = await self._store.history(name)
        if not history:
            raise absent("segment", name, "`abacus segments list` prints all")
        return history

    async def has(self, label: str, member_id: str) -> tuple[Segment, bool]:
        """The version, and whether it has the member."""
        segment, members = await self._store.members(label)
        number = (await self._numbers.known([member_id])).get(member_id)
        return segment, number is not None and number in members

    async def version(self, label: str) -> Segment:
        """The version in force, or the version `NAME@N`."""
        return (await self._store.members(label))[0]

    async def page(self, label: str, after: int, most: int) -> MemberPage:
        """The members behind a number; -1 stands before all."""
        segment, members = await self._store.members(label)
        return await self._page(segment, members, members.rank(after) if after >= 0 else 0, most)

    async def sample(self, label: str, most: int) -> Sample:
        """So many members at most, evenly by their numbers: the same of the same version."""
        segment, members = await self._store.members(label)
        step = max(1, -(-len(members) // most))
        return Sample(segment, await self._numbers.members(list(members[::step])))

    async def pages(self, label: str, most: int) -> AsyncIterator[MemberPage]:
        """All members of one version."""
        segment, members = await self._store.members(label)
        for first in range(0, len(members), most):
            yield await self._page(segment, members, first, most)

    async def country(self, name: str, how: How, by: Actor, country: str | None = None) -> str | None:
        """The country of the segment, or of the segment that is loaded anew, in which the actor may change it."""
        if how is not How.LOAD:
            of = (await self._store.latest(name)).country
            self._check(by, of)
            return of
        latest = await self._store.find(name)
        there = latest is not None and not latest.dropped
        of = country if country is not None or latest is None or not there else latest.country
        self._check(by, of)
        if latest is not None:  # it may have been dropped by somebody whom this actor may not overrule
            self._check(by, latest.country)
        return of

    def give(self, how: How) -> Give:
        """The numbers of members. Only loading and adding give them: a member without one is in no segment."""
        return self._numbers.give if how in {How.LOAD, How.ADD} else self._numbers.known

    async def numbers(self, how: How, member_ids: Sequence[str]) -> Members:
        give, found = self.give(how), NOBODY
        for first in range(0, len(member_ids), BATCH):
            found |= Members((await give(member_ids[first : first + BATCH])).values())
        return found

    async def outlook(self, name: str, how: How, member_ids: Sequence[str], country: str | None) -> Outlook:
        """What loading, adding or removing these members would change; nobody is given a number."""
        known = await self._numbers.known(member_ids)
        given = Members(known.values())
        seen = await self._store.outlook(name, how, given, country=country)
        if how is How.REMOVE:
            return seen._replace(idle=seen.idle + len(member_ids) - len(given))
        new = [each for each in member_ids if each not in known]
        await self._numbers.check_newcomers(new)
        strangers = await self._numbers.strangers(member_ids)
        return seen._replace(size=seen.size + len(new), added=seen.added + len(new), strangers=strangers)

    async def outlook_of_two(self, left: str, how: How, right: str, into: str | None) -> Outlook:
        """What combining two segments would make of `into`, or else of the first."""
        target = into or left
        country = await self._country_of(target, left)
        return await self._store.outlook_of_two(left, how, right, into=target, country=country)

    async def change(
        self,
        name: str,
        how: How,
        members: Members,
        by: Actor,
        *,
        country: str | None,
        file: str | None = None,
        also: Also = nothing_else,
    ) -> Changed:
        """Loads, adds or removes. `country` is what `country` has answered."""
        author = self._author(by, how, name, country, also, file=file)
        return await self._store.change(name, how, members, author, country=country)

    async def combine(
        self, left: str, how: How, right: str, by: Actor, *, into: str | None = None, also: Also = nothing_else
    ) -> Changed:
        target = into or left
        country, latest = await self._country_of(target, left), await self._store.find(target)
        if latest is not None:
            self._check(by, latest.country)
        author = self._author(by, how, target, country, also, of=left, other=right)
        return await self._store.combine(left, how, right, author, into=target, country=country)

    async def drop(self, name: str, by: Actor, *, also: Also = nothing_else) -> Changed:
        """Nobody is in it, and it is listed no more."""
        country = await self.country(name, How.DROP, by)
        author = self._author(by, How.DROP, name, country, also)
        return await self._store.change(name, How.DROP, NOBODY, author, country=country)

    async def _page(self, segment: Segment, members: Members, first: int, most: int) -> MemberPage:
        numbers = list(members[first : first + most])
        more = numbers[-1] if first + most < len(members) else None
        return MemberPage(segment, await self._numbers.members(numbers), more)

    async def _country_of(self, target: str, left: str) -> str | None:
        """Of a segment that is made of others: its own, or that of the first."""
        source, latest = await self._store.latest(left), await self._store.find(target)
        return latest.country if latest is not None and not latest.dropped else source.country

    def _author(self, by: Actor, how: How, name: str, country: str | None, also: Also, **details: object) -> Author:
        """The log names no members."""
        self._check(by, country)
        now = self._clock.now()
        entry = entry_of(
            by.source, Deed.PUBLISH_SEGMENTS, f"segment:{name}", now, country=country, did=how.value, **details
        )
        return Author(by.source, now, together(noted(entry), also))

    def _check(self, by: Actor, country: str | None) -> None:
        check(by, Deed.PUBLISH_SEGMENTS, country, people_required=self._people_required)

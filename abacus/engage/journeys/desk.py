"""What people do with journeys: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.stated import stated
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.aside_rows import Aside, aside, put_back
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.journey_reader import Read, read_journey
from abacus.engage.journeys.decide.migration import Migration, Stand, faults_of_stands, read_migration
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.report import Glance, JourneyReport
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.journeys.migrator import Migrator, Told
from abacus.engage.journeys.publications import journey_publications
from abacus.engage.journeys.report import glance, report
from abacus.engage.journeys.whereabouts import Whereabouts, whereabouts
from abacus.engage.notify.renderer import Renderer
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool, passing_failures
from abacus.signals.events.decide.source import Source


async def tried_journey(document: Mapping[str, object], around: JourneyPublications, renderer: Renderer) -> Journey:
    """The draft of a document, judged by what is published. Raises `JourneyFaults` with every fault that it has, and
    `Unavailable`.
    """
    return await tried(read_journey(document, around), renderer)


async def tried(read: Read, renderer: Renderer) -> Journey:
    """What was read. Raises as `tried_journey` does."""
    renderings = [each.rendering for each in read.trials]
    return read.judged(await renderer.render(renderings, is_trial=True) if renderings else ())


class JourneyDesk(StatedDesk[Journey, JourneyPublications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(
        self, pool: Pool, clock: Clock, built_in: Iterable[Source], approvals: Approvals, renderer: Renderer
    ) -> None:
        super().__init__(pool, clock, JourneyStore(pool), approvals, lambda _: self.around())
        self._built_in = tuple(built_in)
        self._renderer = renderer

    async def around(self) -> JourneyPublications:
        """What is published, by which drafts are judged."""
        return await journey_publications(self._pool, self._built_in, self.now())

    async def read(self, document: Mapping[str, object], around: JourneyPublications | None = None) -> Journey:
        """The draft of a document, judged by what is published; its templates are tried. Raises `JourneyFaults`."""
        return await tried_journey(document, around or await self.around(), self._renderer)

    async def report(self, history: Sequence[Journey], days: tuple[date, date], version: int | None) -> JourneyReport:
        """What became of the members of a journey, whose versions these are: of one version, or of all."""
        if version is not None and version not in {each.version for each in history}:
            raise Refused(f"there is no {history[-1].name}@{version}")
        return await report(self._pool, history, days, version)

    async def where(self, history: Sequence[Journey], member_id: str) -> Whereabouts:
        """Where a member is in a journey, whose versions these are, how it came there, and why it did not enter."""
        around, versions = await self.around(), JourneyVersions(JourneyStore(self._pool))
        armed = ArmedVersions(versions.of, lambda: around)
        return await whereabouts(self._pool, armed, history, member_id, self.now())

    async def glance(self, name: str, version: int | None = None) -> Glance:
        """What a page shows of the report at once."""
        return await glance(self._pool, name, version)

    async def aside(self, name: str | None = None) -> Sequence[Aside]:
        """Who is set aside, of one journey or of all."""
        return await aside(self._pool, name)

    async def retry(self, journey: Journey, by: Actor) -> int:
        """Lets the members go on who could not be moved, and has done what could not be done; how many of both."""
        also = self.logged(journey.name, journey.country, by, did="retry")
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await also(connection)
        return await put_back(self._pool, journey.name, self.now())

    async def migration(self, name: str, before: int, after: int, written: Mapping[str, object]) -> Migration:
        """The move of the members inside a version to the version that takes members in, by a map. Raises `Refused`,
        and `DocumentFaults`.
        """
        versions = {each.document.version: each for each in map(stated, await self.versions(name))}
        for number in (before, after):
            if number not in versions:
                raise self.kind.unknown(f"{name}@{number}")
        there = versions[after]
        if before == after or not there.in_force:
            raise Refused(f"{name}@{after} is not another version that is in force; members are moved only to that")
        return read_migration(versions[before].document, there.document, written)

    async def stands(self, migration: Migration, told: Told) -> Mapping[Stand, int]:
        """How many members wait where. Raises `DocumentFaults` for members who may not be moved there."""
        stands = await self._migrator().stands(migration, told)
        if faults := faults_of_stands(migration, stands):
            raise DocumentFaults(faults)
        return stands

    async def agreed(self, migration: Migration) -> Approval | None:
        """The approval by which a second person has agreed to exactly this move."""
        return await self._approvals.agreed(migration.proposal(0))

    async def may_migrate(self, migration: Migration, members: int, by: Actor) -> Approval | None:
        """The approval that the move waits for; None once a second person has agreed to exactly this."""
        if await self.agreed(migration) is not None:
            return None
        return await self._approvals.ask(migration.proposal(members), by.agent)

    async def migrate(self, migration: Migration, by: Actor, told: Told) -> int:
        """Moves everybody who is left, once a second person has agreed; how many members. Done again, it goes on where
        it was cut off. Raises `Refused`.
        """
        if await self.agreed(migration) is None:
            raise Refused(f"nobody has agreed to move the members of {migration.label}")
        journey, between = migration.before, {"from": migration.before.version, "to": migration.after.version}
        also = self.logged(journey.name, journey.country, by, did="migrate", **between)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await also(connection)
        return await self._migrator().move(migration, told)

    def _migrator(self) -> Migrator:
        return Migrator(self._pool, self._clock)

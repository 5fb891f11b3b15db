"""A counter at which a command exchanges a member's points, by the desk that the API has."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

from abacus.cli.downstreams.asked import services
from abacus.cli.exchanges.family import programme_desk
from abacus.cli.exchanges.linking import linking
from abacus.cli.offers.tried import counter_facts
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.known import check_member
from abacus.core.errors import absent
from abacus.engage.asking.facts import asking_facts
from abacus.engage.asking.standings import Standings, standings_of
from abacus.exchanges.converter import Converter
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.exchange_desk import ExchangeDesk, closed_quotes
from abacus.exchanges.exchange_rows import ended_links
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.link_desk import LinkDesk
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.settler import Settler
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.people.decide.rights import may
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.segments.sets import segment_sets


class ExchangeCounter(NamedTuple):
    """The actor of the command, and what it asks."""

    at: CommandActor
    desk: ExchangeDesk

    async def standings(self, member_id: str) -> Standings:
        """Of the accounts that are open to the actor. Raises `Refused` for what cannot be a member."""
        check_member(member_id)
        accounts, now = await MemberReader(self.at.pool).holdings(member_id), self.at.clock.now()
        return standings_of(
            [each.at(now) for each in accounts], is_open=lambda country: may(self.at.actor, Deed.SEE, country)
        )

    async def one(self, exchange_id: UUID, deed: Deed) -> Exchange:
        """Raises `Absent`, and `Refused` for what the actor may not do there."""
        found = await self.desk.one(exchange_id)
        if found is None:
            raise absent("exchange", exchange_id, "`abacus exchanges find` prints them")
        self.at.check(deed, found.country or None)
        return found


@asynccontextmanager
async def exchange_counter() -> AsyncIterator[ExchangeCounter]:
    async with actor() as at, services(at) as asking, linking(at) as links, programme_desk(at) as programmes:
        pool, clock = at.pool, at.clock
        directory, book = ProgrammeDirectory(pool, clock), CardBook(await CardStore(pool).all())
        await directory.refresh()
        versions, moves = ProgrammeVersions(ProgrammeStore(pool)), PostgresMoves(pool, clock)
        hearing = Hearing(pool, Settler(moves, versions.of, lambda: book, clock), versions.of, clock)

        async def ended(link_ids: Sequence[UUID]) -> Mapping[UUID, str]:
            return await _ended(pool, at, link_ids)

        async def closed(quotes: Sequence[Exchange]) -> Mapping[UUID, str]:
            return await closed_quotes(directory.value, ended, quotes)

        desk = ExchangeDesk(
            pool,
            clock,
            Converter(pool, moves, versions.of, closed, clock),
            hearing,
            programmes=directory.value,
            version_of=versions.of,
            link_of=_Links(links).of,
            facts=asking_facts(
                segments=segment_sets(pool).look,
                counters=counter_facts(pool, await programmes.around()),
                services=asking.ask,
            ),
        )
        try:
            yield ExchangeCounter(at, desk)
        finally:
            await desk.close()


class _Links:
    """The links of members that may be used."""

    def __init__(self, links: LinkDesk) -> None:
        self._links = links

    async def of(self, programme: str, member_id: str) -> UUID:
        return (await self._links.usable(member_id, programme)).link_id


async def _ended(pool: Pool, at: CommandActor, link_ids: Sequence[UUID]) -> Mapping[UUID, str]:
    async with passing_failures():
        ended = await ended_links(pool, link_ids, at.clock.now())
    return dict.fromkeys(ended, "the link to the partner has ended")

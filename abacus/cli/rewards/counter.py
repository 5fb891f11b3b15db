"""A counter at which a command asks for rewards, and redeems them, by the desk that the API has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from abacus.cli.downstreams.asked import services
from abacus.cli.offers.tried import counter_facts
from abacus.cli.rewards.family import reward_desk
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.known import check_member
from abacus.cli.terminal.shell import secrets
from abacus.core.errors import absent
from abacus.engage.asking.facts import asking_facts
from abacus.engage.asking.standings import Standings, standings_of
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.preview import RewardPreview
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.wiring import people_desk
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.people.decide.rights import may
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.segments.sets import segment_sets


class RewardCounter(NamedTuple):
    """The actor of the command, and what it asks."""

    at: CommandActor
    beside: RewardPublications
    rewards: RewardDesk
    redemptions: RedemptionDesk
    preview: RewardPreview

    async def standings(self, member_id: str) -> Standings:
        """Of the accounts that are open to the actor. Raises `Refused` for what cannot be a member."""
        check_member(member_id)
        accounts = await MemberReader(self.at.pool).holdings(member_id)
        now = self.at.clock.now()
        return standings_of(
            [each.at(now) for each in accounts], is_open=lambda country: may(self.at.actor, Deed.SEE, country)
        )

    async def known_standings(self, member_id: str) -> Standings:
        """The same. Raises `Absent` where there is no account."""
        found = await self.standings(member_id)
        if not found:
            raise absent("account that is open to you of the member", member_id)
        return found


@asynccontextmanager
async def reward_counter() -> AsyncIterator[RewardCounter]:
    async with actor() as at, services(at) as asking, reward_desk(at) as rewards:
        pool, clock, beside = at.pool, at.clock, await rewards.around()
        book = CardBook(await CardStore(pool).all())
        moves, segments = PostgresMoves(pool, clock), segment_sets(pool).look
        facts = asking_facts(segments=segments, counters=counter_facts(pool, beside), services=asking.ask)
        deliveries = Deliveries(pool, moves, lambda: book, clock)
        preview = RewardPreview(pool, lambda: book, admission=Admission(segments, facts), deliveries=deliveries)
        async with people_desk(
            pool, clock, moves, lambda: book, segments=segments, facts=facts, secrets=secrets()
        ) as redemptions:
            yield RewardCounter(at, beside, rewards, redemptions, preview)

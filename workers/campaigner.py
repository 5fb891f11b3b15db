"""Decides events for campaigns, and does what they have decided when its time has come."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.core.vouching import Producer
from abacus.engage.campaigns.actions import ActionStore
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.campaigner import Campaigner, CampaignTopics
from abacus.engage.campaigns.decide.effects import AWARDS, EVENTS, MESSAGES
from abacus.engage.campaigns.doing import Doer, to_award_queue, to_events, to_members
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.exhausting import Exhausting
from abacus.engage.campaigns.guards import Guards
from abacus.engage.campaigns.members import AccountsOfMembers
from abacus.engage.campaigns.values import Values
from abacus.engage.notify.notices import Notices
from abacus.ledger.store.read import LedgerReader
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth, sub_workers_of
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.definition import AWARD
from abacus.programs.tiers.store import MembershipStore

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA, Service.SQS})
_CONNECTIONS: Final = 8
_MOST_RECORDS: Final = 4_000
_GATHER_S: Final = 0.05


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    cards, campaigns = wiring.cards(pool), wiring.campaigns(pool)
    store, _ = await wiring.counter_store(pool)
    counting = await wiring.counting(pool, store)
    wiring.at_the_end(counting.close)
    members = AccountsOfMembers(MembershipStore(pool, clock).tiers_of, LedgerReader(pool).standings_of)
    values = Values(
        pool,
        members=members,
        counters=lambda: campaigns.around().counters,
        counts=counting.counts,
        segments=wiring.segments(pool).look,
    )
    effects = Effects(pool, clock, on_exhausted=Exhausting(CampaignStore(pool), clock).mark)
    topics = CampaignTopics(campaigns.in_force, settings.events_topic)
    publisher = wiring.publisher()
    awards = wiring.signed_by(Producer.CAMPAIGNER, await wiring.queue(await wiring.sqs(), AWARD))
    await until_available(campaigns.refresh, wiring.health)
    following, *doing = sub_workers_of(wiring.health, 4)

    def follow(topic: str, health: WorkerHealth) -> Run:
        campaigner = Campaigner(
            topic,
            topics,
            values=values,
            cards=cards.book,
            effects=effects,
            quarantine=QuarantineStore(pool, clock),
            clock=clock,
            health=health,
        )
        group = f"campaigner-{topic}"
        return wiring.following(topic, group, campaigner.handle, health, max_records=_MOST_RECORDS, gather_s=_GATHER_S)

    actions = ActionStore(pool, clock)
    guards = Guards(CampaignStore(pool), campaigns.around, values, cards.book, clock)
    hands = {
        AWARDS: to_award_queue(awards),
        MESSAGES: to_members(Notices(pool, clock)),
        EVENTS: to_events(publisher.publish, settings.events_topic),
    }
    doers = [
        Doer(receiver, hand, actions, guards, clock=clock, health=health)
        for (receiver, hand), health in zip(hands.items(), doing, strict=True)
    ]
    return together(FollowedTopics(topics.topics, follow, following).run, *(doer.run for doer in doers))

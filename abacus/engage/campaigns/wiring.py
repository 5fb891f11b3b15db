"""How campaigns are put together: their desk, and the decisions on events with what follows from them."""

import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.signature import Producer
from abacus.engage.actions.action_runner import unguarded
from abacus.engage.actions.messages import NewsOf
from abacus.engage.actions.types import INVITATIONS, REDEMPTIONS, DueAction, WhyStopped
from abacus.engage.actions.wiring import RUNS, WEBHOOKS_AT_ONCE, action_runs
from abacus.engage.campaigns.campaign_store import CampaignStore, CampaignVersions
from abacus.engage.campaigns.campaigner import Campaigner, CampaignTopics
from abacus.engage.campaigns.decide.campaign import OWNER_KIND
from abacus.engage.campaigns.desk import CampaignDesk, CampaignExhaustion
from abacus.engage.campaigns.directory import CampaignDirectory
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator
from abacus.engage.campaigns.facts import campaign_facts
from abacus.engage.campaigns.guards import CampaignGuards
from abacus.engage.campaigns.retrier import CampaignRetrier
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.seen import SeenStore
from abacus.engage.campaigns.sums import done_before
from abacus.engage.campaigns.verdicts import Verdicts
from abacus.engage.downstreams.wiring import outside
from abacus.engage.limits.exhaustion_watch import ExhaustionWatch
from abacus.engage.limits.pot_store import SLOTS, PotStore
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import Campaigned, CampaignWords
from abacus.engage.notify.renderer import rendering
from abacus.engage.offers.decide.offer import OWNER_KIND as OF_OFFERS
from abacus.engage.offers.gifts import to_invitations
from abacus.engage.rewards.wiring import reward_grants
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.ledger.types.account import AccountBalance
from abacus.ledger.types.movement import MovesPort
from abacus.people.store.approvals import Approvals
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth, sub_workers_of
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.slices import in_one_place
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import CAMPAIGN_RETRY
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.facts.members import Look, MemberFacts
from abacus.signals.facts.wiring import counter_facts
from abacus.signals.places.locating import locate_in_use
from abacus.signals.segments.wiring import segments_in_use


def campaign_news(action: DueAction, key: str, document: Mapping[str, Any], words: Mapping[str, Words]) -> Campaigned:
    """What a campaign tells a member."""
    said = {locale: CampaignWords(**each._asdict()) for locale, each in words.items()}
    return Campaigned(campaign=action.owner, key=key, country=document["country"], words=said)


_CONNECTIONS: Final = 8
_GRANTING_CONNECTIONS: Final = 4
_GRANTING: Final = 2  # offers and rewards
_MOST_RECORDS: Final = 4_000
_GATHER_S: Final = 0.05


async def campaign_desk(wiring: Wiring, pool: Pool, approvals: Approvals) -> CampaignDesk:
    sources, renderer = built_in_sources(wiring.settings), await wiring.entered(rendering())
    return CampaignDesk(pool, wiring.clock, sources, approvals, renderer)


def campaigns_in_use(wiring: Wiring, pool: Pool) -> CampaignDirectory:
    settings = wiring.settings
    campaigns = CampaignDirectory(
        pool, built_in_sources(settings), wiring.clock, uncounted_from=settings.campaign_uncounted_from
    )
    return wiring.keep(campaigns, on=campaigns.tables)


def asked_by(wiring: Wiring, pool: Pool) -> Callable[[], Asked]:
    """The events that campaigns ask for."""
    return campaigns_in_use(wiring, pool).asked


async def campaigner(
    wiring: Wiring,
    standings_of: Callable[[Pool], Look[AccountBalance]],
    moves_of: Callable[[Pool, Clock], MovesPort],
    others_news: Mapping[str, NewsOf],
    others_stopped: Mapping[str, Callable[[Wiring, Pool], Awaitable[WhyStopped]]],
) -> Run:
    """Decides events, also events from the retry queue, and carries out actions that are due. What others than
    campaigns tell members, and which of their actions they have stopped, is by their kind of owners.
    """
    settings, clock, rng = wiring.settings, wiring.clock, random.Random()
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    slice_map, sliced = await wiring.slice_map(pool), pool
    if not await in_one_place(pool):  # many rows are inserted by statements that Citus plans with their values only
        sliced = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_VALUES, keeps_nothing=True)
    cards, campaigns = cards_in_use(wiring, pool), campaigns_in_use(wiring, pool)
    around, members = campaigns.around, MemberFacts(pool, MembershipStore(pool, clock).tiers_of, standings_of(pool))
    reached = await outside(wiring, pool, webhooks_at_once=WEBHOOKS_AT_ONCE)
    facts = campaign_facts(
        pool,
        members=members,
        counters=await counter_facts(wiring, pool, around),
        segments=segments_in_use(wiring, pool).look,
        services=reached.services.ask,
    )
    client, store, quarantine = await wiring.sqs(), CampaignStore(pool), CountedQuarantine(QuarantineStore(pool, clock))
    retries, slot = await wiring.queue(client, CAMPAIGN_RETRY), rng.randrange(SLOTS)
    exhaustion = CampaignExhaustion(store, clock)
    retry_queue = RetryQueue(
        wiring.signed_by(Producer.CAMPAIGNER, retries),
        quarantine,
        RetryPolicy(give_up_after=timedelta(hours=settings.retry_hours)),
        events_topic=settings.events_topic,
        clock=clock,
        rng=rng,
    )
    effects = Effects(sliced, clock, slot=slot, on_exhausted=exhaustion.mark)
    verdicts = Verdicts(CampaignEvaluator(facts, members), effects, retry_queue, quarantine, pool)
    locate = await locate_in_use(wiring, pool)
    topics, seen = CampaignTopics(campaigns.value, settings.events_topic, locate), SeenStore(pool, slot)
    await until_available(campaigns.refresh, wiring.health)
    following, again, calling, watching, *acting = sub_workers_of(wiring.health, 3 + RUNS + _GRANTING)

    def follow(topic: str, health: WorkerHealth) -> Run:
        deciding = Campaigner(
            topic,
            topics,
            verdicts=verdicts,
            cards=cards.book,
            seen=seen,
            quarantine=quarantine,
            clock=clock,
            health=health,
        )
        group = f"campaigner-{topic}"
        return wiring.following(topic, group, deciding.handle, health, max_records=_MOST_RECORDS, gather_s=_GATHER_S)

    retrier = CampaignRetrier(
        campaigns.value,
        verdicts=verdicts,
        cards=cards.book,
        quarantine=quarantine,
        verifier=wiring.verifier(),
        clock=clock,
    )
    # Actions hold connections while they are handed over: what is granted has others.
    granting = await wiring.pool(size=_GRANTING_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    rewards = await reward_grants(wiring, granting, moves_of(granting, clock), cards.book)
    acted = await action_runs(
        wiring,
        sliced,
        client,
        producer=Producer.CAMPAIGNER,
        guards={
            OWNER_KIND: CampaignGuards(CampaignVersions(store).of, around, facts, cards.book, clock).refusals,
            OF_OFFERS: unguarded,
        },
        stopped={kind: await stopped_of(wiring, granting) for kind, stopped_of in others_stopped.items()},
        news_of={OWNER_KIND: campaign_news, **others_news},
        others={INVITATIONS: to_invitations(granting, clock), REDEMPTIONS: rewards.hand_over},
        apart=granting,
        outside=reached,
        slice_map=slice_map,
        health=[calling, *acting],
    )
    watch = ExhaustionWatch(pool, PotStore(pool, slot, done_before), campaigns.bounded, exhaustion.mark, watching)
    return together(
        FollowedTopics(topics.topics, follow, following).run,
        QueueConsumer(retries, retrier.handle, again).run,
        watch.run,
        *acted,
    )

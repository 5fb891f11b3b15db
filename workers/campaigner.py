"""Decides events for campaigns, and does what they have decided when its time has come."""

import random
from datetime import timedelta
from typing import Final

from abacus.bootstrap import Service
from abacus.core.vouching import Producer
from abacus.engage.actions.action_runner import ActionRunner
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.actions.calls import CallOutbox, webhooks_of
from abacus.engage.actions.receiver_pace import turns_of
from abacus.engage.actions.receivers import to_award_queue, to_events, to_members
from abacus.engage.actions.types import AWARDS, EVENTS, MESSAGES
from abacus.engage.actions.webhook_caller import CONCURRENCY, caller
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.campaigner import Campaigner, CampaignTopics
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator
from abacus.engage.campaigns.exhaustion import CampaignExhaustion
from abacus.engage.campaigns.facts import campaign_facts
from abacus.engage.campaigns.guards import CampaignGuards
from abacus.engage.campaigns.retrier import CampaignRetrier
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.seen import SeenStore
from abacus.engage.campaigns.sums import done_before
from abacus.engage.campaigns.verdicts import Verdicts
from abacus.engage.campaigns.versions import CampaignVersions
from abacus.engage.campaigns.wiring import campaigns_in_use
from abacus.engage.downstreams.decide.question import LONGEST_ANSWER
from abacus.engage.downstreams.services import CALLS_AT_ONCE, Services
from abacus.engage.downstreams.wiring import downstreams_in_use
from abacus.engage.limits.exhaustion_watch import ExhaustionWatch
from abacus.engage.limits.pot_store import SLOTS, PotStore
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.renderer import rendering
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.ledger.store.read import LedgerReader
from abacus.platform.delivery.deliverer import IDLE_S
from abacus.platform.delivery.post import Poster
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth, sub_workers_of
from abacus.platform.kafka.topic_id import TopicIds
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.consumer import QueueConsumer
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.counters.headway import Headway
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.wiring import counter_store, counting_service
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import MemberFacts
from abacus.signals.segments.wiring import segments_in_use

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA, Service.SQS})
_CONNECTIONS: Final = 8
_COUNTING_CONNECTIONS: Final = 2
_MOST_RECORDS: Final = 4_000
_GATHER_S: Final = 0.05
_POSTS_AT_ONCE: Final = CONCURRENCY.at_once + 4 * CALLS_AT_ONCE
_RECEIVERS: Final = (AWARDS, AWARDS, MESSAGES, EVENTS)  # while awards are sent, the next are taken


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    slicing, sliced = await wiring.slicing(pool), pool
    if slicing.is_cut:  # in slices many rows are inserted by statements that Citus plans with their values only
        sliced = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_VALUES, keeps_nothing=True)
    cards, campaigns = cards_in_use(wiring, pool), campaigns_in_use(wiring, pool)
    store, _ = await counter_store(
        wiring,
        await wiring.pool(
            size=_COUNTING_CONNECTIONS,
            settings=LOOKUPS_BY_KEY,
            keeps_nothing=True,
            within_s=settings.counts_timeout_seconds,
        ),
    )
    counting = await counting_service(wiring, pool, store, keeps_parts=False)
    wiring.at_the_end(counting.close)
    members = MemberFacts(pool, MembershipStore(pool, clock).tiers_of, LedgerReader(pool).standings_of)
    downstreams = downstreams_in_use(wiring, pool)
    poster = Poster(to_private=settings.webhooks_to_private, at_once=_POSTS_AT_ONCE, whole_up_to=LONGEST_ANSWER)
    wiring.at_the_end(poster.close)
    secrets = wiring.secrets()
    ids = TopicIds(settings.required("kafka_bootstrap"))
    wiring.at_the_end(ids.close)
    headway = Headway(SeriesBook(pool, clock), ids, within_s=settings.campaign_counter_wait_seconds)
    facts = campaign_facts(
        pool,
        members=members,
        counters=CounterFacts(
            pool, campaigns.around, counting.counts, headway.passed, events_topic=settings.events_topic
        ),
        segments=segments_in_use(wiring, pool).look,
        services=Services(downstreams.by_name, poster, pool, clock, secrets, health=wiring.process_health).ask,
    )
    client, quarantine, rng = await wiring.sqs(), QuarantineStore(pool, clock), random.Random()
    retries = await wiring.queue(client, CAMPAIGN_RETRY)
    slot = rng.randrange(SLOTS)
    seen = SeenStore(pool, slot)
    exhaustion = CampaignExhaustion(CampaignStore(pool), clock)
    effects = Effects(sliced, clock, slot=slot, on_exhausted=exhaustion.mark)
    retry_queue = RetryQueue(
        wiring.signed_by(Producer.CAMPAIGNER, retries),
        quarantine,
        RetryPolicy(give_up_after=timedelta(hours=settings.retry_hours)),
        events_topic=settings.events_topic,
        clock=clock,
        rng=rng,
    )
    verdicts = Verdicts(CampaignEvaluator(facts, members), effects, retry_queue, quarantine, pool)
    topics = CampaignTopics(campaigns.in_force, settings.events_topic)
    publisher = wiring.publisher()
    awards = wiring.signed_by(Producer.CAMPAIGNER, await wiring.queue(client, AWARD))
    await until_available(campaigns.refresh, wiring.health)
    await until_available(downstreams.refresh, wiring.health)
    following, again, calling, watching, *acting = sub_workers_of(wiring.health, 4 + len(_RECEIVERS))

    def follow(topic: str, health: WorkerHealth) -> Run:
        campaigner = Campaigner(
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
        return wiring.following(topic, group, campaigner.handle, health, max_records=_MOST_RECORDS, gather_s=_GATHER_S)

    retrier = CampaignRetrier(
        campaigns.in_force,
        verdicts=verdicts,
        cards=cards.book,
        quarantine=quarantine,
        verifier=wiring.verifier(),
        clock=clock,
    )
    actions = ActionStore(sliced, clock)
    versions = CampaignVersions(CampaignStore(pool))
    guards = CampaignGuards(versions.of, campaigns.around, facts, cards.book, clock).refusals
    turns = turns_of(pool, downstreams.by_name, clock)
    handover = {
        AWARDS: to_award_queue(awards),
        MESSAGES: to_members(Notices(sliced, clock), await wiring.entered(rendering())),
        EVENTS: to_events(publisher.publish, settings.events_topic),
    }
    runners = [
        ActionRunner(
            receiver,
            handover[receiver],
            actions,
            guards,
            turns,
            pool=sliced,
            slicing=slicing,
            clock=clock,
            health=health,
        )
        for receiver, health in zip(_RECEIVERS, acting, strict=True)
    ]
    calls = CallOutbox(sliced, clock, lambda: webhooks_of(downstreams.by_name()))
    idle_s = slicing.pause_s(IDLE_S)
    caller_ = caller(
        calls, guards, downstreams.by_name, poster, secrets, clock=clock, health=calling, rng=rng, idle_s=idle_s
    )
    return together(
        FollowedTopics(topics.topics, follow, following).run,
        QueueConsumer(retries, retrier.handle, again).run,
        caller_.run,
        ExhaustionWatch(
            pool,
            PotStore(pool, slot, done_before),
            campaigns.bounded,
            exhaustion.mark,
            watching,
        ).run,
        *(runner.run for runner in runners),
    )

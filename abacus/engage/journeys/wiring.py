"""How journeys are put together: their desk, and what moves their members."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from abacus.engage.actions.action_store import ActionStore
from abacus.engage.actions.messages import InWords
from abacus.engage.actions.types import DueAction, WhyStopped
from abacus.engage.campaigns.wiring import campaign_news
from abacus.engage.downstreams.wiring import outside
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.been_in import been_in
from abacus.engage.journeys.corrected_versions import CorrectedVersions
from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.deed_actions import DeedActions
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.directory import JourneyDirectory
from abacus.engage.journeys.expiry_waves import ExpiryWaves
from abacus.engage.journeys.facts import journey_facts
from abacus.engage.journeys.follower import JourneyFollower, JourneyTopics, Silence
from abacus.engage.journeys.gate import Gate
from abacus.engage.journeys.goals import Goals
from abacus.engage.journeys.halts import HaltDirectory
from abacus.engage.journeys.happenings import Happenings
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.journeys.journeyer import Journeyer
from abacus.engage.journeys.late_entries import LateEntries
from abacus.engage.journeys.late_moves import LateMoves
from abacus.engage.journeys.mover import UTC, Mover
from abacus.engage.journeys.order_taker import OrderTaker
from abacus.engage.journeys.segment_waves import SegmentWaves
from abacus.engage.journeys.status import measure
from abacus.engage.journeys.unfolder import Unfolder
from abacus.engage.journeys.walks import Walks
from abacus.engage.journeys.wave_gate import WaveGate
from abacus.engage.journeys.waves import LEASE, Waves
from abacus.engage.notify.decide.contact import Stopped
from abacus.engage.notify.decide.news import Campaigned, JourneyTerms, News
from abacus.engage.notify.renderer import rendering
from abacus.ledger.types.account import AccountBalance
from abacus.people.store.approvals import Approvals
from abacus.platform.following.leader import Leader
from abacus.platform.following.together import together
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth, sub_workers_of
from abacus.platform.kafka.groups import KeptLags, open_lags
from abacus.platform.measuring import keep_measuring
from abacus.platform.pace.turns import book_turns
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.slices import in_one_place
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.decide.substream import Asked
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.facts.members import Look, MemberFacts
from abacus.signals.facts.wiring import present_counter_facts
from abacus.signals.places.locating import locate_in_use
from abacus.signals.segments.wiring import segments_in_use

_MOVING: Final = 8  # connections: each slice at work, and each topic, holds one while members go on
_ASKING: Final = 4  # what they look up meanwhile
_SERVICES_ONLY: Final = 0  # no webhook is called
_GATHER_S: Final = 0.05
_WAVES_EVERY_S: Final = 1.0
_WAVE_PAGE: Final = 1_000  # members


async def journey_desk(wiring: Wiring, pool: Pool, approvals: Approvals) -> JourneyDesk:
    sources, renderer = built_in_sources(wiring.settings), await wiring.entered(rendering())
    return JourneyDesk(pool, wiring.clock, sources, approvals, renderer)


def _in_use(wiring: Wiring, pool: Pool, versions: JourneyVersions) -> JourneyDirectory:
    journeys = JourneyDirectory(pool, versions, built_in_sources(wiring.settings), wiring.clock)
    return wiring.keep(journeys, on=journeys.tables)


def asked_by(wiring: Wiring, pool: Pool) -> Callable[[], Asked]:
    """The events that journeys ask for."""
    return _in_use(wiring, pool, JourneyVersions(JourneyStore(pool))).asked


async def journeyer(wiring: Wiring, standings_of: Callable[[Pool], Look[AccountBalance]]) -> Run:
    """Lets members in by events, and moves them on when their time or an event has come."""
    settings, clock = wiring.settings, wiring.clock
    pool = await wiring.pool(size=_ASKING, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    by = LOOKUPS_BY_KEY if await in_one_place(pool) else LOOKUPS_BY_VALUES  # as the campaigner's
    moving = await wiring.pool(size=_MOVING, settings=by, keeps_nothing=True)
    await wiring.slice_map(moving)
    versions = JourneyVersions(JourneyStore(pool))
    running = _in_use(wiring, pool, versions)
    members = MemberFacts(pool, MembershipStore(pool, clock).tiers_of, standings_of(pool))
    cards = cards_in_use(wiring, pool)
    reached = await outside(wiring, pool, webhooks_at_once=_SERVICES_ONLY)
    facts = journey_facts(
        pool,
        members=members,
        counters=await present_counter_facts(wiring, pool, lambda: running.around().beside),
        segments=segments_in_use(wiring, pool),
        services=reached.services.ask,
        been_in=been_in(pool),
    )
    corrected = CorrectedVersions(versions.of, lambda name: running.value().approved.get(name, ()))
    armed = ArmedVersions(corrected.of, running.around)

    def halts() -> Halts:
        return running.value().halts

    walks = Walks(
        armed,
        facts,
        tiers=members.tiers_of,
        cards=cards.book,
        book=partial(book_turns, pool),
        halts=halts,
    )
    mover = Mover(walks, clock, lambda name: running.value().zones.get(name, UTC), walks.together)
    heard = HeardStore(pool)
    topics = JourneyTopics(running.value, settings.events_topic, await locate_in_use(wiring, pool))
    gate = Gate(armed, mover, facts, holdouts=running.holdouts, cards=cards.book, pool=moving, clock=clock)
    goals = Goals(running.value, armed, facts, cards=cards.book, clock=clock)
    quarantine = CountedQuarantine(QuarantineStore(pool, clock))
    await until_available(running.refresh, wiring.health)
    following, listening, going, starting, coming, unfolding, looking, trying = sub_workers_of(wiring.health, 8)
    late = LateEntries(running.value, gate, armed, pool=moving, clock=clock, health=looking)
    moves = LateMoves(running.value, mover, armed, pool=moving, clock=clock, health=trying)
    happenings = Happenings(running.value, moves, late)

    def follow(topic: str, health: WorkerHealth) -> Run:
        follower = JourneyFollower(
            topic, topics, happenings, goals, heard, quarantine=quarantine, pool=moving, clock=clock, health=health
        )
        return wiring.following(topic, _group(topic), follower.handle, health, gather_s=_GATHER_S)

    lags = KeptLags(partial(open_lags, settings.required("kafka_bootstrap")))
    wiring.at_the_end(lags.close)

    async def unread(topic: str, group: str) -> Mapping[int, int]:
        return await lags.unread(topic, settings.queue_prefix + group)

    silence = Silence(topics.awaited, unread, _group, heard, clock=clock, health=listening)
    going_round = Journeyer(
        mover,
        lambda: running.value().names,
        silence,
        topics.awaited,
        halts=halts,
        pool=moving,
        clock=clock,
        health=going,
    )
    orders = OrderTaker(
        running.value, gate, mover, ActionStore(moving, clock), pool=moving, clock=clock, health=starting
    )
    wave_gate = WaveGate(gate, late)
    segments = SegmentWaves(wave_gate, _WAVE_PAGE, pool=pool, clock=clock)
    expiries = ExpiryWaves(wave_gate, cards=cards.book, pool=pool, clock=clock)
    waves = Waves(running.value, segments, expiries, clock)
    leading = await wiring.pool(size=1)
    leader = Leader(leading, LEASE, waves.step, coming, idle_s=_WAVES_EVERY_S, prepare=waves.begin)
    unfolder = Unfolder(
        DeedActions(corrected.of, armed, cards.book),
        lambda: (*running.value().names, *running.value().ended),
        pool=moving,
        clock=clock,
        health=unfolding,
    )
    followed = FollowedTopics(topics.topics, follow, following)
    wiring.beside(keep_measuring("journeys", partial(measure, pool, clock)))
    return together(
        *(followed.run, silence.run, going_round.run, orders.run, leader.run, unfolder.run, late.run, moves.run)
    )


async def stopped_actions(wiring: Wiring, pool: Pool) -> WhyStopped:
    """Nothing is done any more that was decided by a version that is over."""
    halts = await _halts_in_use(wiring, pool)
    return lambda action: halts.value().why_over((action.owner, action.version), wiring.clock.now())


async def stopped_news(wiring: Wiring, pool: Pool) -> Stopped:
    """Nor is it told."""
    halts = await _halts_in_use(wiring, pool)

    def why(news: News) -> str | None:
        if not isinstance(news, Campaigned) or news.journey is None:
            return None
        return halts.value().why_over((news.campaign, news.journey.version), wiring.clock.now())

    return why


async def _halts_in_use(wiring: Wiring, pool: Pool) -> HaltDirectory:
    directory = HaltDirectory(pool)
    halts = wiring.keep(directory, on=directory.tables)
    await until_available(halts.refresh, wiring.health)
    return halts


def journey_news(action: DueAction, key: str, document: Mapping[str, Any], words: InWords) -> Campaigned:
    """What a journey tells a member."""
    said = campaign_news(action, key, document, words)
    terms = JourneyTerms.model_validate({"version": action.version, **document.get("terms", {})})
    return said.model_copy(update={"journey": terms})


def _group(topic: str) -> str:
    return f"journeyer-{topic}"

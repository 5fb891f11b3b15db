"""How redemptions are put together: the rewards in force, the redeemer, and what goes on with unfinished ones."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.engage.asking.facts import AskingMember, asking_facts
from abacus.engage.downstreams.wiring import outside
from abacus.engage.limits.types import Limits
from abacus.engage.offers.facts import Countable
from abacus.engage.offers.preview_wiring import LookedUp
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.counted import CountedRows
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.directory import RewardDirectory
from abacus.engage.rewards.grants import RewardGrants
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.preview import RewardPreview
from abacus.engage.rewards.redeemer import Redeemer
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.redemption_rows import RedemptionRows
from abacus.engage.rewards.rehearsal import in_none, keep_stocked
from abacus.engage.rewards.reward_store import RewardStore
from abacus.engage.rewards.status import measure
from abacus.ledger.types.movement import MovesPort
from abacus.platform.encryption import Secrets
from abacus.platform.measuring import keep_measuring
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.members import InSegments
from abacus.signals.facts.types import FactRegistry
from abacus.signals.facts.wiring import present_counter_facts
from abacus.signals.segments.sets import looked_up_anew
from abacus.signals.segments.wiring import segments_in_use


class _Redeeming(NamedTuple):
    """The rewards in force, and what carries redemptions through."""

    rewards: RewardDirectory
    redeemer: Redeemer
    deliveries: Deliveries


async def redemption_desk(wiring: Wiring, pool: Pool, moves: MovesPort, book: Callable[[], CardBook]) -> RedemptionDesk:
    """It goes on beside with what any process left unfinished, and measures what there is."""
    rewards, redeemer, deliveries = await _redeeming(wiring, pool, moves, book)
    wiring.beside(keep_measuring("rewards", partial(measure, pool, wiring.clock)))
    segments = segments_in_use(wiring, pool).look
    counters = await present_counter_facts(wiring, pool, lambda: Countable(rewards.around().counters))
    reached = await outside(wiring, pool, webhooks_at_once=0)
    return RedemptionDesk(
        pool,
        wiring.clock,
        redeemer,
        deliveries,
        offered=rewards.value,
        book=book,
        segments=segments,
        facts=asking_facts(segments=segments, counters=counters, services=reached.services.ask),
        secrets=wiring.secrets(),
    )


async def reward_grants(wiring: Wiring, pool: Pool, moves: MovesPort, book: Callable[[], CardBook]) -> RewardGrants:
    """It goes on beside with what any process left unfinished."""
    rewards, redeemer, _ = await _redeeming(wiring, pool, moves, book)
    return RewardGrants(redeemer, rewards, RewardStore(pool), book, wiring.clock)


async def _redeeming(wiring: Wiring, pool: Pool, moves: MovesPort, book: Callable[[], CardBook]) -> _Redeeming:
    clock, directory = wiring.clock, RewardDirectory(pool, wiring.clock)
    wiring.keep(directory, on=directory.tables)
    await until_available(directory.refresh, wiring.health)
    deliveries = Deliveries(pool, moves, book, clock)
    limits = partial(limits_of, directory.value)
    redeemer = Redeemer(CountedRows(pool), moves, limits, book, clock, deliveries=deliveries)
    wiring.at_the_end(redeemer.close)
    wiring.beside(redeemer.keep_finishing())
    return _Redeeming(directory, redeemer, deliveries)


def rehearsed_desk(
    wiring: Wiring, live: RedemptionDesk, pool: Pool, moves: MovesPort, book: Callable[[], CardBook]
) -> RedemptionDesk:
    """The same rewards in the sandbox."""
    deliveries = Deliveries(pool, moves, book, wiring.clock)
    limits = partial(limits_of, live.offered)
    redeemer = Redeemer(RedemptionRows(pool), moves, limits, book, wiring.clock, deliveries=deliveries)
    wiring.at_the_end(redeemer.close)
    wiring.beside(redeemer.keep_finishing())
    wiring.beside(keep_stocked(pool, live.offered, wiring.secrets(), wiring.clock))
    return live.rehearsing(pool, redeemer, deliveries)


def limits_of(offered: Callable[[], Mapping[str, Offered]], redemption: Redemption) -> Limits:
    """Those of the version in force. Raises `Locked` where there is none any more, and `Unavailable`."""
    found = offered().get(redemption.reward)
    if found is None:
        raise Locked(Lock.CLOSED, f"{redemption.reward} is not there any more")
    return found.reward.limits


def reward_preview(
    pool: Pool, clock: Clock, moves: MovesPort, book: Callable[[], CardBook], of: LookedUp
) -> RewardPreview:
    """For people, who look whether a member could have a reward."""
    segments = looked_up_anew(pool)
    facts = asking_facts(segments=segments, counters=of.counters, services=of.services)
    deliveries = Deliveries(pool, moves, book, clock)
    return RewardPreview(pool, book, admission=Admission(segments, facts), deliveries=deliveries)


def returns_desk(pool: Pool, clock: Clock, moves: MovesPort, book: Callable[[], CardBook]) -> RedemptionDesk:
    """For people, who cancel and return: no reward is offered by it, and no code is read."""
    desk, _ = _desk_beside(
        pool, clock, moves, book, dict, segments=in_none, facts=FactRegistry(), secrets=Secrets.of(None)
    )
    return desk


@asynccontextmanager
async def people_desk(
    pool: Pool,
    clock: Clock,
    moves: MovesPort,
    book: Callable[[], CardBook],
    *,
    segments: InSegments,
    facts: FactRegistry[AskingMember],
    secrets: Secrets,
) -> AsyncIterator[RedemptionDesk]:
    """For people, who also redeem for a member: with the rewards that are in force now."""
    directory = RewardDirectory(pool, clock)
    await directory.refresh()
    desk, redeemer = _desk_beside(
        pool, clock, moves, book, directory.value, segments=segments, facts=facts, secrets=secrets
    )
    try:
        yield desk
    finally:
        await redeemer.close()


def _desk_beside(
    pool: Pool,
    clock: Clock,
    moves: MovesPort,
    book: Callable[[], CardBook],
    offered: Callable[[], Mapping[str, Offered]],
    *,
    segments: InSegments,
    facts: FactRegistry[AskingMember],
    secrets: Secrets,
) -> tuple[RedemptionDesk, Redeemer]:
    """Workers go on with what it leaves unfinished."""
    deliveries = Deliveries(pool, moves, book, clock)
    limits = partial(limits_of, offered)
    redeemer = Redeemer(CountedRows(pool), moves, limits, book, clock, deliveries=deliveries)
    desk = RedemptionDesk(
        pool,
        clock,
        redeemer,
        deliveries,
        offered=offered,
        book=book,
        segments=segments,
        facts=facts,
        secrets=secrets,
    )
    return desk, redeemer

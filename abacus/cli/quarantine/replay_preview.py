"""`abacus quarantine replay --dry-run`: what would come of each item. Nothing is sent."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.decider import DecidedBatch, MessageDecider
from abacus.ledger.store.read import LedgerReader
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.types import AWARD_QUEUE, OF_EVENTS, Item, Stage
from abacus.platform.settings import Settings
from abacus.pricing.store.cards import CardReader, CardStore
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.replay import replay_events
from abacus.signals.events.wiring import sources_now


class ReplayFate(StrEnum):
    """What would come of an item."""

    GOOD = "good"
    POSTED = "posted already"
    HELD = "held again"
    SENT = "sent on"  # and judged where it goes


class Preview(NamedTuple):
    """An item, and what would come of it."""

    id: str
    reason: Reason
    outcome: ReplayFate
    says: str


async def previews(items: Sequence[Item], opened: Pool, config: Settings) -> list[Preview]:
    """Raises `Unavailable`."""
    clock = SystemClock()
    cards = CardReader(CardStore(opened).all)
    await cards.refresh()
    deciding = MessageDecider(
        cards=cards,
        tiers=MembershipStore(opened, clock),
        postings=LedgerReader(opened),
        retry_policy=RetryPolicy(give_up_after=timedelta(hours=config.retry_hours)),
        clock=clock,
    )
    faults = await _faults_of_events([item for item in items if item.stage in OF_EVENTS], opened, config)
    decided = {
        item.id: await deciding.decide([SourceMessage(item.body, item.origin, cause=str(item.reason))])
        for item in items
        if item.stage is Stage.TRANSACTION
    }
    keys = {item.key for item in items if item.key is not None}
    keys |= {award.key for each in decided.values() for award in each.awards}
    posted = await LedgerReader(opened).claims_of(keys)
    return [Preview(item.id, item.reason, *_judged(item, decided.get(item.id), faults, posted)) for item in items]


def _judged(
    item: Item, decided: DecidedBatch | None, faults: Mapping[str, SetAside], posted: Collection[str]
) -> tuple[ReplayFate, str]:
    if decided is not None:
        return _of_transaction(decided, posted)
    if item.stage in OF_EVENTS:
        fault = faults.get(item.id)
        return (ReplayFate.HELD, _fault(fault)) if fault is not None else (ReplayFate.GOOD, "it is published again")
    if item.stage is Stage.AWARD:
        return (ReplayFate.POSTED, str(item.key)) if item.key in posted else (ReplayFate.SENT, f"to the {AWARD_QUEUE}")
    return ReplayFate.SENT, f"to the {item.origin}, as it is"


def _of_transaction(decided: DecidedBatch, posted: Collection[str]) -> tuple[ReplayFate, str]:
    for award in decided.awards:
        outcome = ReplayFate.POSTED if award.key in posted else ReplayFate.GOOD
        return outcome, f"{award.points:,} {award.program} for {award.member_id}"
    for reversal in decided.reversals:
        return ReplayFate.GOOD, f"takes points back from {reversal.member_id}"
    for fault in decided.set_aside:
        return ReplayFate.HELD, f"{fault.reason}: {fault.detail}"
    for waiting in decided.deferred:
        return ReplayFate.SENT, f"waits: {waiting.cause}"
    return ReplayFate.GOOD, "earns nothing"


def _fault(fault: SetAside) -> str:
    return f"{fault.reason}: {fault.detail}"


async def _faults_of_events(items: Sequence[Item], opened: Pool, config: Settings) -> Mapping[str, SetAside]:
    if not items:
        return {}
    sources = await sources_now(opened, config)
    return await replay_events(items, sources, _to_nobody, config.events_topic, SystemClock().now())


async def _to_nobody(_: str, __: Sequence[StreamMessage]) -> None:
    """Publishes nothing."""

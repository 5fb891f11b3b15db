"""The receivers that are there from the start, the award queue, members and the topic of events; and their pace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from abacus.core.clock import Clock
from abacus.engage.actions.action_runner import Handover, TurnsOf
from abacus.engage.actions.action_store import Batch
from abacus.engage.actions.messages import NewsOf, told
from abacus.engage.actions.types import NONE_REFUSED, DueAction, Refusals
from abacus.engage.downstreams.store import ByName
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.renderer import Renderer
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.pace.turns import take_turns
from abacus.platform.postgres import Pool
from abacus.platform.sqs.packer import pack_compressed
from abacus.platform.sqs.port import Queue

Publish: TypeAlias = Callable[[str, Sequence[StreamMessage]], Awaitable[None]]

_AT_ONCE: Final = timedelta(0)


def to_award_queue(queue: Queue) -> Handover:
    """Awards go on the award queue, the only door for new points."""

    async def hand_over(_: Batch, actions: Sequence[DueAction]) -> Refusals:
        packed = pack_compressed("awards", (each.document for each in actions))
        await queue.send([each.body for each in packed])
        return NONE_REFUSED

    return hand_over


def to_members(notices: Notices, renderer: Renderer, news_of: Mapping[str, NewsOf]) -> Handover:
    """Messages become notices, in the transaction that ends the actions."""

    async def hand_over(batch: Batch, actions: Sequence[DueAction]) -> Refusals:
        said = await told(actions, renderer, news_of)
        if said.notices:
            await notices.enter_beside(batch.connection, said.notices, gathered_for=_AT_ONCE)
        return Refusals(said.refused, ())

    return hand_over


def to_events(publish: Publish, events_topic: str) -> Handover:
    """Our events are published in the same form as other senders' events."""

    async def hand_over(_: Batch, actions: Sequence[DueAction]) -> Refusals:
        messages = [StreamMessage(each.member_id.encode(), each.document) for each in actions]
        if messages:
            await publish(events_topic, messages)
        return NONE_REFUSED

    return hand_over


def turns_of(pool: Pool, downstreams: Callable[[], ByName], clock: Clock) -> TurnsOf:
    """By the pace of the downstream of that name, kept over all processes."""

    async def turns(receiver: str, wanted: int) -> int:
        signed = downstreams().get(receiver)
        if signed is None or signed.downstream.retired or signed.downstream.pace is None:
            return wanted
        return (await take_turns(pool, receiver, signed.downstream.pace, clock.now(), wanted)).turns

    return turns

"""Puts quarantined items back on their queues, and events back on their topic."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.platform.postgres import Also, nothing_else
from abacus.platform.quarantine.store import ALL_HELD, QuarantineStore, Which
from abacus.platform.quarantine.types import AWARD_QUEUE, OF_EVENTS, RETRY_QUEUE, Item, Stage
from abacus.platform.sqs.compressed_envelope import seen_through
from abacus.platform.sqs.packer import pack, pack_compressed
from abacus.platform.sqs.port import Queue

EncodeTransaction = Callable[[Item], bytes]
# Publishes the events that can be read now, and returns the faults of the others by the ids of their items.
PublishEvents = Callable[[Sequence[Item]], Awaitable[Mapping[str, SetAside]]]


NEVER_SENT: Final = SetAside(Reason.UNSUPPORTED, "where a member was is not kept, so a position is never sent again")


class Replayed(NamedTuple):
    """The items that were sent, and the items that stay held because they cannot be sent."""

    sent: Sequence[Item]
    still_held: Sequence[Item]


async def no_events(items: Sequence[Item]) -> Mapping[str, SetAside]:
    """For a house whose quarantine has no events."""
    return {item.id: SetAside(Reason.UNSUPPORTED, "events are not replayed here") for item in items}


async def replay(
    quarantine: QuarantineStore,
    which: Which = ALL_HELD,
    *,
    queues: Mapping[str, Queue],
    encode_transaction: EncodeTransaction,
    publish_events: PublishEvents = no_events,
    sign: Callable[[str], str] = str,
    limit: int = 100,
    also: Also = nothing_else,
) -> Replayed:
    """Sends held items again, by the queues of that name. Raises `Unavailable`; then none counts as replayed.

    A transaction goes through the calculation again, an award to the ledger again: in new envelopes, which are signed.
    An envelope goes to its queue as it is: if nobody vouched for it, nobody does now. An event that can be read by the
    present document of its source is published; another stays held, with its present fault.
    """
    async with quarantine.replaying(which, limit=limit, also=also) as replaying:
        items = [entry.item for entry in replaying.held]
        events = [item for item in items if item.stage in OF_EVENTS]
        if events:
            replaying.unfit.update(await publish_events(events))
        replaying.unfit.update({item.id: NEVER_SENT for item in items if item.stage is Stage.POSITION})
        transactions = [encode_transaction(item) for item in items if item.stage is Stage.TRANSACTION]
        awards = [item.body for item in items if item.stage is Stage.AWARD]
        await queues[RETRY_QUEUE].send([sign(body) for body in pack("retries", transactions)])
        await queues[AWARD_QUEUE].send([sign(each.body) for each in pack_compressed("awards", awards)])
        for item in items:
            if item.stage is Stage.ENVELOPE:
                await queues[item.origin].send([item.body.decode()])
    unfit = replaying.unfit
    return Replayed([each for each in items if each.id not in unfit], [each for each in items if each.id in unfit])


def readable(body: bytes) -> str:
    """The body as a person reads it: a compressed envelope is opened; indented JSON, else text, else escaped bytes."""
    text = seen_through(body)
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text.decode("utf-8", "backslashreplace")

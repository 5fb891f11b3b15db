"""Puts quarantined items back on their queues."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from abacus.core.errors import Reason
from abacus.platform.postgres import Also, nothing_else
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import AWARD_QUEUE, RETRY_QUEUE, Item, Stage
from abacus.platform.sqs.packing import pack
from abacus.platform.sqs.port import Queue

EncodeTransaction = Callable[[Item], bytes]


async def replay(
    quarantine: QuarantineStore,
    *,
    queues: Mapping[str, Queue],
    encode_transaction: EncodeTransaction,
    sign: Callable[[str], str] = str,
    ids: Sequence[str] = (),
    reason: Reason | None = None,
    set_aside_before: datetime | None = None,
    limit: int = 100,
    also: Also = nothing_else,
) -> list[Item]:
    """Sends held items again, by the queues of that name, and returns the items that were sent. Raises `Unavailable`;
    then none counts as replayed.

    A transaction goes through the calculation again, an award to the ledger again: in new envelopes, which are signed.
    An envelope goes to its queue as it is: if nobody vouched for it, nobody does now.
    """
    async with quarantine.replaying(
        ids=ids, reason=reason, set_aside_before=set_aside_before, limit=limit, also=also
    ) as held:
        items = [entry.item for entry in held]
        transactions = [encode_transaction(item) for item in items if item.stage is Stage.TRANSACTION]
        awards = [item.body for item in items if item.stage is Stage.AWARD]
        await queues[RETRY_QUEUE].send([sign(body) for body in pack("retries", transactions)])
        await queues[AWARD_QUEUE].send([sign(body) for body in pack("awards", awards)])
        for item in items:
            if item.stage is Stage.ENVELOPE:
                await queues[item.origin].send([item.body.decode()])
    return items


def readable(body: bytes) -> str:
    """The body as a person reads it: indented JSON, else text, else escaped bytes."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body.decode("utf-8", "backslashreplace")

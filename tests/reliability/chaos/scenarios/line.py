"""Everything turns bad: the line stops, nothing is lost, and after the cause is mended all is posted once."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.platform.kafka.publisher import StreamMessage
from abacus.pricing.decide.card import RateCard
from abacus.pricing.store.cards import CardStore
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.settling import left_in
from tests.reliability.chaos.workload import Awarded, awarded, calculator_by, cards
from tests.support.logged import card_logged

_NEW: Final = "voucher"  # a way to pay that senders begin to use before any card knows it
_STOPPED: Final = b"messages would be quarantined, more than the 50% allowed"
_STOPS_WITHIN_S: Final = 120.0
_MENDED_WITHIN_S: Final = 180.0
_HELD: Final = "select count(*) from quarantine where status = 'held' and reason = $1 and body like $2"


async def _play(stage: Stage, rng: Random) -> None:
    ground = stage.ground
    await stage.send(stage.third(0))
    await stage.rests()
    posted = await stage.posted()
    unpriced = list(_unpriced(stage))
    stage.fates = {**stage.fates, **awarded(unpriced, calculator_by(_mended()))}
    await stage.send(unpriced)
    calculators = ground.crew.named("calculator")

    async def stopped() -> bool:
        return all(_STOPPED in worker.told for worker in calculators)

    await stage.until("every calculator says why it stopped", stopped, _STOPS_WITHIN_S)
    unread, aside = (await left_in(ground)).unread, await _held(stage)
    stage.seen.update({"calculators stopped": len(calculators), "left in the stream": unread, "set aside": aside})
    stage.hold(
        f"offsets stand before what has no effect: {unread} unread and {aside} set aside of {len(unpriced)}",
        if_=unread + aside == len(unpriced),
    )
    stage.hold("most is left in the stream", if_=unread > aside)
    stage.hold("nothing of it is posted", if_=await stage.posted() == posted)

    store = CardStore(ground.pool)
    for card in _mended():
        await store.publish(card, by="chaos", now=SystemClock().now(), also=card_logged(card))
    for worker in calculators:
        await ground.crew.dismiss(worker)
        ground.crew.hire("calculator")

    async def all_posted() -> bool:
        """The retrier reads cards anew every 10 s; items that it sets aside before that are replayed again."""
        await ground.command("quarantine", "replay", "--reason", Reason.UNKNOWN_PAYMENT_TYPE)
        await stage.rests()
        return not await _held(stage)

    await stage.until("what was set aside is posted", all_posted, _MENDED_WITHIN_S)
    await stage.send(stage.third(1))


def _unpriced(stage: Stage) -> Iterable[StreamMessage]:
    """For each good transaction of the workload another one, paid in a way that no card knows."""
    for message in stage.messages:
        if isinstance(stage.fates[message.value], Awarded):
            transaction: dict[str, Any] = json.loads(message.value)
            if transaction["type"] == "transaction.completed":
                changed = {"transaction_id": f"V-{transaction['transaction_id']}", "payment_type": _NEW}
                yield StreamMessage(message.key, json.dumps({**transaction, **changed}).encode())


async def _held(stage: Stage) -> int:
    pattern = f"%{_NEW}%".encode()
    return int(await stage.ground.pool.fetchval(_HELD, Reason.UNKNOWN_PAYMENT_TYPE, pattern))


def _mended() -> list[RateCard]:
    return [
        replace(
            card,
            payment_types={**card.payment_types, _NEW: next(iter(card.payment_types.values()))},
            effective_from=card.effective_from + timedelta(hours=1),
        )
        for card in cards()
    ]


LINE_STOPPED: Final = Scenario(
    "line-stopped",
    "every message names what no card knows: the breaker stops the calculators, and goes on when it is published",
    _play,
    most=8_000,
)

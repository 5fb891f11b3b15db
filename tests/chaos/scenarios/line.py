"""Everything turns bad: the line stops, nothing is lost, and after the cause is mended all is posted once."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.earning.calculate import Calculator
from abacus.earning.transaction import read_transaction
from abacus.rates.book import CardBook
from abacus.rates.card import BASE_TIER, PublishedCard, RateCard
from abacus.rates.store import CardStore
from abacus.streams.publisher import Message
from tests.chaos.scenarios.scenario import Scenario, Stage
from tests.chaos.settling import left_in
from tests.chaos.workload import Awarded, Fate, cards

_NEW: Final = "voucher"  # a way to pay that senders begin to use before a card knows it
_STOPPED: Final = b"messages would be quarantined, more than the 50% allowed"
_STOPS_WITHIN_S: Final = 120.0
_MENDED_WITHIN_S: Final = 180.0
_HELD: Final = "select count(*) from quarantine where status = 'held' and reason = $1 and body like $2"


async def _play(stage: Stage, rng: Random) -> None:
    house = stage.house
    await stage.send(stage.third(0))
    await stage.rests()
    posted = await stage.posted()

    unpriced = list(_unpriced(stage.messages))
    stage.fates = {**stage.fates, **_fates(unpriced)}
    await stage.send(unpriced)
    calculators = house.crew.named("calculator")

    async def stopped() -> bool:
        return all(_STOPPED in worker.told for worker in calculators)

    await stage.until("every calculator says why it stopped", stopped, _STOPS_WITHIN_S)
    left, aside = await left_in(house), await _held(stage)
    stage.seen |= {"calculators stopped": len(calculators), "left in the stream": left.unread, "set aside": aside}
    stage.hold(
        f"offsets stand before what has no effect: {left.unread} unread and {aside} set aside of {len(unpriced)}",
        if_=left.unread + aside == len(unpriced),
    )
    stage.hold("most is left in the stream", if_=left.unread > aside)
    stage.hold("nothing of it is posted", if_=await stage.posted() == posted)

    store = CardStore(house.pool)
    for card in _mended():
        await store.publish(card, by="chaos", now=SystemClock().now())
    for worker in calculators:
        await house.crew.dismiss(worker)
        house.crew.hire("calculator")

    async def all_priced() -> bool:
        """The retrier reads cards anew every 10 s; what it sets aside before that is replayed again."""
        await house.command("quarantine", "replay", "--reason", Reason.UNKNOWN_PAYMENT_TYPE)
        await stage.rests()
        return not await _held(stage)

    await stage.until("what was set aside is posted", all_priced, _MENDED_WITHIN_S)
    await stage.send(stage.third(1))


def _unpriced(messages: Iterable[Message]) -> Iterable[Message]:
    """Of each transaction of the workload another one that is paid with what no card knows."""
    for message in messages:
        try:
            transaction: dict[str, Any] = json.loads(message.value)
        except ValueError:
            continue
        if transaction.get("type") == "transaction.completed":
            number = f"V-{transaction['transaction_id']}"
            yield Message(message.key, json.dumps({**transaction, "transaction_id": number, "payment_type": _NEW}).encode())


async def _held(stage: Stage) -> int:
    return int(await stage.house.pool.fetchval(_HELD, Reason.UNKNOWN_PAYMENT_TYPE, f"%{_NEW}%"))


def _mended() -> list[RateCard]:
    return [
        replace(
            card,
            payment_types={**card.payment_types, _NEW: next(iter(card.payment_types.values()))},
            effective_from=card.effective_from + timedelta(hours=1),
        )
        for card in cards()
    ]


def _fates(messages: Iterable[Message]) -> dict[bytes, Fate]:
    """By the cards that will be published."""
    calculator = Calculator(CardBook(PublishedCard(card, 2) for card in _mended()))
    return {message.value: fate for message in messages if (fate := _fate(calculator, message.value))}

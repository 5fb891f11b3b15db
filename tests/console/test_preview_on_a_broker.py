"""The preview of a draft on a broker with traffic: events of the last day are found in its partitions, in time."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from decimal import Decimal
from itertools import count

import orjson
import pytest

from abacus.bootstrap import announcements_of
from abacus.core.clock import SystemClock
from abacus.platform.health import Health
from abacus.platform.kafka.offsets import ends_of
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.ranges import read_ranges
from abacus.platform.wiring import Wiring
from abacus.pricing.store.cards import CardReader
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event, Value
from abacus.signals.events.wiring import recent_events
from tests.console.campaigning import TOML
from tests.console.desk import desk
from tests.support.house import House

PAGE = "/campaigns-draft"
TELLS = TOML.replace("award = { points = 5 }", 'tell = { en = "Thanks\\nFor {{event.amount}}" }')
WITHIN_S = 20.0  # a person waits some seconds; a busy machine takes longer


def bought(numbers: Sequence[int], *, ago: timedelta = timedelta(0)) -> list[StreamMessage]:
    """Purchases of many members of SG, each with a number."""
    messages, at = [], SystemClock().now() - ago
    for number in numbers:
        values: dict[str, Value] = {
            "source": "mart",
            "transaction_id": f"T-{number}",
            "amount": Decimal(number),
            "currency": "SGD",
        }
        member = f"m{number % 50}"
        event = Event("transactions", "transaction.completed", f"mart:T-{number}", member, "SG", at, values)
        messages.append(StreamMessage(member.encode(), encode_event(event)))
    return messages


@pytest.mark.long
async def test_the_preview_finds_events_of_the_day_while_more_come(house: House) -> None:
    topic, bootstrap, numbers = house.settings.events_topic, house.settings.required("kafka_bootstrap"), count(1)

    def more(how_many: int) -> list[int]:
        return [next(numbers) for _ in range(how_many)]

    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        announcements = announcements_of(house.settings)
        wiring = Wiring(
            house.settings,
            stack,
            group,
            health=Health(["console"]),
            name="console",
            announcements=announcements,
            clock=SystemClock(),
        )
        publisher, recent = wiring.publisher(), recent_events(wiring, lambda *_: ())
        old = set(map(str, more(1000)))
        await publisher.publish(topic, bought([int(each) for each in old], ago=timedelta(days=2)))
        await publisher.publish(topic, bought(more(1000)))

        async def keep_buying() -> None:
            while True:
                await publisher.publish(topic, bought(more(100)))

        buying = group.create_task(keep_buying())
        async with desk(house.pool, beside=lambda _: [recent]) as open_desk:
            await open_desk.rooms[CardReader].refresh()
            ann = await open_desk.inside("ann", "country_editor:SG")
            async with asyncio.timeout(WITHIN_S):
                shown = (await ann.send_for_twin(PAGE, PAGE, text=TELLS, shown=TELLS, act="preview")).json()
        buying.cancel()
        preview = shown["preview"]["value"]
        offered = [key.rpartition("T-")[2] for key, _ in preview["events"]]
        assert (len(offered), old & set(offered)) == (20, set())
        assert [each["text"] for each in preview["messages"]] == [f"For {offered[0]}"]
        ranges = {number: range(end) for number, end in (await ends_of(bootstrap, topic)).items()}
        partitions = {
            orjson.loads(record.value)["id"].rpartition("T-")[2]: record.partition
            async for records in read_ranges(bootstrap, topic, ranges)
            for record in records
        }
        assert len({partitions[each] for each in offered}) > 1
        await stack.aclose()

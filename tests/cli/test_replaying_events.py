"""`abacus quarantine replay` for events: read by the present sources, published, or held with the present fault."""

import json

from aiokafka import AIOKafkaConsumer

from abacus.bootstrap import built_in_sources
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, SetAside
from abacus.engage.events.replaying import event_item
from abacus.engage.events.store import SourceStore
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.store import HELD, REPLAYED, QuarantineStore
from tests.engage.events.weather import DROP, TOPIC, WEATHER, put
from tests.support.commands import abacus
from tests.support.house import House, until

FAULT = SetAside(Reason.INVALID, "/drops: not an integer of 64 bits")


async def test_what_can_be_read_now_is_published_and_the_rest_stays(house: House) -> None:
    large = {**DROP, "note": "x" * 200_000}  # more than any queue takes
    messages = (large, put(DROP, "/at", "noon"), {**DROP, "type": "snow"})
    items = [
        event_item(Record(json.dumps(message).encode(), TOPIC, 0, offset), FAULT)
        for offset, message in enumerate(messages)
    ]
    quarantine = QuarantineStore(house.pool, SystemClock())
    await quarantine.add(items)
    await SourceStore(house.pool).publish(
        WEATHER,
        built_in=built_in_sources(house.settings),
        events_topic=house.settings.events_topic,
        by="person:ann",
        now=SystemClock().now(),
    )
    ran = await abacus("quarantine", "replay", "--all", "--json", env=house.environment())
    assert ran.code == 0, ran.err
    assert ran.json["replayed"] == [items[0].id]
    assert sorted(ran.json["still_held"]) == sorted([items[1].id, items[2].id])
    kept = {item.id: await quarantine.get(item.id) for item in items}
    assert [(held.status, held.item.detail) for held in kept.values() if held] == [
        (REPLAYED, FAULT.detail),
        (HELD, "/at: not a time like 2026-01-10T12:30:00+08:00, between the years 2000 and 2100"),
        (HELD, f"no source takes it from {TOPIC} any more"),
    ]
    assert await _published(house) == [("drop-1", b"bob")]


async def test_events_need_a_broker_to_be_replayed(house: House) -> None:
    item = event_item(Record(json.dumps(DROP).encode(), TOPIC, 0, 1), FAULT)
    quarantine = QuarantineStore(house.pool, SystemClock())
    await quarantine.add([item])
    ran = await abacus("quarantine", "replay", item.id, env={**house.environment(), "ABACUS_KAFKA_BOOTSTRAP": ""})
    assert (ran.code, ran.err) == (2, "abacus: ABACUS_KAFKA_BOOTSTRAP is not set\n")
    held = await quarantine.get(item.id)
    assert held is not None
    assert (held.status, held.replays) == (HELD, 0)


async def _published(house: House) -> list[tuple[str, bytes | None]]:
    """The ids and keys of the first messages of the events topic."""
    consumer = AIOKafkaConsumer(
        house.settings.events_topic,
        bootstrap_servers=house.settings.kafka_bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    told: list[tuple[str, bytes | None]] = []

    async def any_() -> bool:
        polled = await consumer.getmany(timeout_ms=100)
        told.extend((json.loads(m.value or b"")["id"], m.key) for ms in polled.values() for m in ms)
        return bool(told)

    await consumer.start()
    try:
        await until(any_)
        return told
    finally:
        await consumer.stop()

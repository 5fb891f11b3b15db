"""`abacus quarantine replay` for events: read by the present sources, published, or held with the present fault."""

import json
from dataclasses import replace
from pathlib import Path

from aiokafka import AIOKafkaConsumer

from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, SetAside
from abacus.documents.store import DocumentStore
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.store import HELD, REPLAYED, QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.replay import event_item
from abacus.signals.events.wiring import built_in_sources
from tests.signals.events.weather import DROP, TOPIC, WEATHER, put
from tests.support.commands import abacus
from tests.support.house import House, completed, until

FAULT = SetAside(Reason.INVALID, "/drops: not an integer of 64 bits")


async def test_what_can_be_read_now_is_published_and_the_rest_stays(house: House) -> None:
    large = {**DROP, "note": "x" * 200_000}  # more than any queue takes
    messages = (large, put(DROP, "/at", "noon"), {**DROP, "type": "snow"})
    items = [
        event_item(Record(json.dumps(message).encode(), TOPIC, 0, offset), FAULT, bytes)
        for offset, message in enumerate(messages)
    ]
    quarantine = QuarantineStore(house.pool, SystemClock())
    await quarantine.add(items)
    await DocumentStore(house.pool, SOURCES).publish(
        [WEATHER],
        Reserved(built_in_sources(house.settings), house.settings.events_topic).look,
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
    item = event_item(Record(json.dumps(DROP).encode(), TOPIC, 0, 1), FAULT, bytes)
    quarantine = QuarantineStore(house.pool, SystemClock())
    await quarantine.add([item])
    ran = await abacus("quarantine", "replay", item.id, env={**house.environment(), "ABACUS_KAFKA_BOOTSTRAP": ""})
    assert (ran.code, ran.err) == (2, "abacus: ABACUS_KAFKA_BOOTSTRAP is not set\n")
    held = await quarantine.get(item.id)
    assert held is not None
    assert (held.status, held.replays) == (HELD, 0)


async def test_a_dry_run_says_what_would_come_of_each_item(house: House, tmp_path: Path) -> None:
    """The same as the replay then does, and nothing is sent."""
    await DocumentStore(house.pool, SOURCES).publish(
        [WEATHER],
        Reserved(built_in_sources(house.settings), house.settings.events_topic).look,
        by="person:ann",
        now=SystemClock().now(),
    )
    events = [
        event_item(Record(json.dumps(message).encode(), TOPIC, 0, offset), FAULT, bytes)
        for offset, message in enumerate((DROP, put(DROP, "/at", "noon")))
    ]
    sales = [
        Item.of(Stage.TRANSACTION, f"kafka:t/0/{number}", json.dumps(completed(number, **changes)).encode(), FAULT)
        for number, changes in enumerate(({}, {"vertical": "moon"}, {"occurred_at": "2099-01-01T00:00:00+08:00"}))
    ]
    award = replace(sales[0], stage=Stage.AWARD, origin="award queue", key="txn:rides:1")
    envelope = Item.of(Stage.ENVELOPE, "award queue", b"{}", FAULT)
    items = [*events, *sales, award, envelope]
    quarantine = QuarantineStore(house.pool, SystemClock())
    await quarantine.add(items)
    file = tmp_path / "items.txt"
    file.write_text("\n".join([*(item.id for item in items), "not-there"]), encoding="utf-8")
    ran = await abacus("quarantine", "replay", "--ids-from", str(file), "--dry-run", "--json", env=house.environment())
    assert ran.code == 0, ran.err
    said = {row["id"]: (row["outcome"], row["says"]) for row in ran.json["rows"]}
    assert said[events[0].id] == ("good", "it is published again")
    assert said[events[1].id][0] == "held again"
    assert said[sales[0].id][0] == "good"
    assert said[sales[0].id][1].endswith(" GRP for m0")
    assert said[sales[1].id][1].startswith("unknown-vertical: ")
    assert said[sales[2].id][1].startswith("in-the-future: ")
    assert said[award.id] == ("sent on", "to the award queue")
    assert said[envelope.id] == ("sent on", "to the award queue, as it is")
    assert ran.json["outcomes"] == {"good": 2, "held again": 3, "sent on": 2}
    assert ran.json["missing"] == ["not-there"]
    assert sum((await quarantine.counts()).values()) == len(items)
    assert await house.pool.fetchval("select count(*) from quarantine where replays > 0") == 0
    shown = await abacus("quarantine", "replay", "--all", "--dry-run", env=house.environment())
    assert shown.out.startswith("7 items: 2 good, 3 held again, 2 sent on")
    for wrong, fault in ((tmp_path / "none", "No such file"), (tmp_path / "empty", "has no id")):
        (tmp_path / "empty").touch()
        refused = await abacus("quarantine", "replay", "--ids-from", str(wrong), env=house.environment())
        assert (refused.code, fault in refused.err) == (2, True)


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

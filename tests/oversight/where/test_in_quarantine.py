"""What is set aside is found by its id, however the message writes it."""

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import transaction_key
from abacus.oversight.where.decide.mentions import Wanted
from abacus.oversight.where.records import in_quarantine, soon_in_quarantine
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from abacus.platform.sqs.compressed_envelope import compressed
from tests.support.awards import NOW
from tests.support.fixed_clock import FixedClock
from tests.support.house import completed

CLOCK = FixedClock(NOW)
IDS = ["T-1", 'a"b', "a\\b", "crème", '旅"\\']


def retried(transaction: dict[str, object]) -> bytes:
    return orjson.dumps({"v": 1, "retries": [{"transaction": orjson.dumps(transaction).decode()}]})


def in_base64(transaction: dict[str, object]) -> bytes:
    return orjson.dumps({"v": 1, "retries": [{"transaction_base64": b64encode(orjson.dumps(transaction)).decode()}]})


def in_a_compressed_envelope(transaction: dict[str, object]) -> bytes:
    key = transaction_key(str(transaction["source"]), str(transaction["transaction_id"]))
    return compressed(orjson.dumps({"v": 1, "awards": [{"key": key}]}), 1).encode()


def in_ascii(transaction: dict[str, object]) -> bytes:
    return json.dumps(transaction).encode()


@pytest.mark.parametrize("written", [orjson.dumps, in_ascii, retried, in_base64, in_a_compressed_envelope])
@pytest.mark.parametrize("id_", IDS)
async def test_an_item_is_found_by_an_id(pool: Pool, id_: str, written: Callable[[object], bytes]) -> None:
    fault = SetAside(Reason.UNKNOWN_VERTICAL, "yachts")
    bodies = [written(completed(0, transaction_id=each)) for each in (id_, "another", "a\\nother")]
    await QuarantineStore(pool, CLOCK).add([Item.of(Stage.TRANSACTION, "queue", body, fault) for body in bodies])
    assert [each.key for each in await in_quarantine(pool, CLOCK, Wanted(id_))] == [f"txn:rides:{id_}"]


# The bodies of items, the newest first, each with its key, and how many of the newest are looked through.
@pytest.mark.parametrize(
    ("wanted", "among", "found", "is_whole"),
    [
        (Wanted("T-1"), 4, [0, 1], True),
        (Wanted("T-1"), 2, [0, 1], False),
        (Wanted("T-1"), 1, [0], False),
        (Wanted("T-1", "rides"), 1, [3, 0], False),  # of any age, under its key
        (Wanted("txn:rides:T-1"), 1, [3, 0], False),
        (Wanted("T-2"), 1, [], False),
        (Wanted("T-2"), 3, [2], False),
    ],
)
async def test_of_a_large_quarantine_the_newest_are_looked_through(
    pool: Pool,
    wanted: Wanted,
    among: int,
    found: list[int],
    is_whole: bool,  # noqa: FBT001  # the expected outcome of a row
) -> None:
    fault = SetAside(Reason.UNKNOWN_VERTICAL, "yachts")
    written = [
        (orjson.dumps(completed(0, transaction_id="T-1")), None),
        (in_base64(completed(0, transaction_id="T-1")), None),
        (orjson.dumps(completed(0, transaction_id="T-2")), None),
        (b"not to be read", "txn:rides:T-1"),
    ]
    ids = list[str]()
    for age, (body, key) in enumerate(written):
        item = replace(Item.of(Stage.TRANSACTION, "queue", body, fault), key=key)
        await QuarantineStore(pool, FixedClock(NOW - age * timedelta(days=1))).add([item])
        ids.append(item.id)
    aside = await soon_in_quarantine(pool, CLOCK, wanted, among=among)
    assert [ids.index((each.about or "").removeprefix("quarantine:")) for each in aside.sightings] == found
    assert aside.is_whole == is_whole

"""What is set aside is found by its id, however the message writes it."""

import json
from base64 import b64encode
from collections.abc import Callable

import orjson
import pytest

from abacus.core.errors import Reason, SetAside
from abacus.oversight.where.decide.mentions import Wanted
from abacus.oversight.where.records import in_quarantine
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from tests.support.awards import NOW
from tests.support.fixed_clock import FixedClock
from tests.support.house import completed

CLOCK = FixedClock(NOW)
IDS = ["T-1", 'a"b', "a\\b", "crème", '旅"\\']


def retried(transaction: dict[str, object]) -> bytes:
    return orjson.dumps({"v": 1, "retries": [{"transaction": orjson.dumps(transaction).decode()}]})


def in_base64(transaction: dict[str, object]) -> bytes:
    return orjson.dumps({"v": 1, "retries": [{"transaction_base64": b64encode(orjson.dumps(transaction)).decode()}]})


def in_ascii(transaction: dict[str, object]) -> bytes:
    return json.dumps(transaction).encode()


@pytest.mark.parametrize("written", [orjson.dumps, in_ascii, retried, in_base64])
@pytest.mark.parametrize("id_", IDS)
async def test_an_item_is_found_by_an_id(pool: Pool, id_: str, written: Callable[[object], bytes]) -> None:
    fault = SetAside(Reason.UNKNOWN_VERTICAL, "yachts")
    bodies = [written(completed(0, transaction_id=each)) for each in (id_, "another", "a\\nother")]
    await QuarantineStore(pool, CLOCK).add([Item.of(Stage.TRANSACTION, "queue", body, fault) for body in bodies])
    assert [each.key for each in await in_quarantine(pool, CLOCK, Wanted(id_))] == [f"txn:rides:{id_}"]

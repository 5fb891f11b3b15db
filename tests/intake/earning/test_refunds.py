"""Refunds from the stream: through the calculator, the queues and the ledger, on the real stack."""

import json
from typing import Any

import pytest

from abacus.core.errors import Reason
from abacus.platform.sqs.definition import RETRY
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.support.house import House, completed, until
from tests.support.outcomes import verified


def refunded(number: int, refund: int, amount: str, **changes: Any) -> dict[str, Any]:
    """A refund of so much of the transaction with that number."""
    changes = {"occurred_at": "2026-05-03T12:00:00+08:00", **changes}
    return completed(number, type="transaction.refunded", refund_id=f"R-{refund}", amount=amount, **changes)


@pytest.mark.long
async def test_refunds_take_back_exactly_what_was_earned(house: House) -> None:
    """10.00 earned 20 points. Three refunds of a third each, and one more than was paid; some arrive twice."""
    async with house.running("calculator", "retrier", "awarder", "relay"):
        await house.produce([completed(1)])
        await until(lambda: _posted(house, 1))
        await house.produce([refunded(1, 1, "3.33"), refunded(1, 1, "3.33"), refunded(1, 2, "3.33")])
        await until(lambda: _posted(house, 3))
        await house.produce([refunded(1, 3, "3.34"), refunded(1, 2, "3.33"), refunded(1, 4, "5.00")])
        await until(lambda: _posted(house, 5))
    rows = await house.pool.fetch("select key, kind, points, reverses, explanation from transfer order by seq")
    assert [row["points"] for row in rows] == [20, -6, -7, -7, 0]
    assert {row["reverses"] for row in rows[1:]} == {"txn:rides:T-1"}
    told = json.loads(rows[2]["explanation"])
    assert (told["amount"], told["of_amount"], told["earned"]) == ("3.33", "10.00", 20)
    assert (told["due"], told["own_lot"], told["clipped"]) == (7, 7, 0)
    assert await house.pool.fetchval("select balance from account") == 0
    assert await verified(house)


@pytest.mark.long
async def test_a_refund_before_its_transaction_waits_for_it(house: House) -> None:
    async with house.running("calculator", "awarder"):
        await house.produce([refunded(2, 1, "10.00")])
        await until(lambda: _is_waiting(house))
        await house.produce([completed(2)])
        await until(lambda: _posted(house, 1))
    async with house.running("retrier", "awarder"):
        await until(lambda: _posted(house, 2), within_s=60)
    assert await house.pool.fetchval("select sum(points) from transfer") == 0
    assert not await house.reasons()


async def test_what_earned_nothing_is_refunded_for_the_record(house: House) -> None:
    async with house.running("calculator", "awarder"):
        await house.produce([completed(3, amount="0.01")])
        await until(lambda: _posted(house, 1))
        await house.produce([refunded(3, 1, "0.01")])
        await until(lambda: _posted(house, 2))
    rows = await house.pool.fetch("select kind, points, balance_after from transfer order by seq")
    assert [tuple(row) for row in rows] == [("earn", 0, 0), ("reverse", 0, 0)]


async def test_a_refund_that_contradicts_its_transaction_is_set_aside(house: House) -> None:
    async with house.running("calculator", "awarder"):
        await house.produce([completed(4)])
        await until(lambda: _posted(house, 1))
        await house.produce(
            [
                refunded(4, 1, "1.00", member_id="somebody-else"),
                refunded(4, 2, "1.00", currency="MYR"),
                refunded(4, 3, "1.00"),
            ]
        )
        await until(lambda: _posted(house, 2))
        await house.produce([refunded(4, 3, "2.00")])  # the same refund, another amount
        await until(lambda: _set_aside(house, 3))
    assert await house.reasons() == {Reason.INVALID: 1, Reason.UNKNOWN_CURRENCY: 1, Reason.KEY_CONFLICT: 1}
    assert await house.transfers() == 2


async def _posted(house: House, transfers: int) -> bool:
    return await house.transfers() >= transfers


async def _set_aside(house: House, items: int) -> bool:
    return sum((await house.reasons()).values()) >= items


async def _is_waiting(house: House) -> bool:
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        queue = await SqsQueue.find(client, house.settings.queue_prefix + RETRY)
        return await queue.waiting() > 0

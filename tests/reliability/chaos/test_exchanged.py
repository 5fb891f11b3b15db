"""The judge of exchanges: what is in two places, or in none, is told."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction
from tests.reliability.chaos.exchanged import Ended, Member, faults_of_exchanges
from tests.support.exchanged import exchange

BOB = Member("bob", "4711", 10_000, 5000)
OUT = exchange(State.CAPTURED)
IN = exchange(State.AWARDED, direction=Direction.IN, reference="T-1", points=1500, theirs=1000)
HELD = "each with what is held"
ID = str(OUT.exchange_id)


def ended(
    exchanges: Sequence[Exchange], points: int, miles: int, there: str | None, sent: str | None, **of: Any
) -> Ended:
    transfers = [] if there is None else [{"id": ID, "state": there, "amount": 1000, **of}]
    theirs: Mapping[str, Any] = {
        "transfers": transfers,
        "sent": [] if sent is None else [{"id": "T-1", "state": sent}],
        "accounts": [{"number": "4711", "balance": miles, "held": 0}],
    }
    return Ended(exchanges, {"bob": (points, 0)}, theirs)


@pytest.mark.parametrize(
    ("found", "faults"),
    [
        (ended([OUT, IN], 9000, 5000, "credited", "captured"), []),
        (ended([OUT._replace(state=State.RELEASED)], 10_000, 5000, None, None), []),
        (ended([OUT._replace(state=State.RELEASED)], 10_000, 5000, "rejected", None), []),
        (
            ended([OUT._replace(state=State.RELEASED)], 10_000, 6000, "credited", None),
            [
                f"{ID} is released here and credited there",
                f"bob has (10000, 0) points and (6000, 0) miles, {HELD}; 10000 points and 5000 miles are due",
            ],
        ),
        (ended([OUT], 7500, 6000, None, None), [f"{ID} is captured here and unknown there"]),
        (ended([OUT], 7500, 6000, "credited", None, amount=999), [f"{ID} is of 999 there, not of 1000"]),
        (
            ended([OUT._replace(state=State.ASIDE)], 10_000, 5000, "credited", None),
            [f"{ID} is aside here and credited there"],
        ),
        (ended([], 10_000, 5000, "cancelled", None), [f"{ID} is cancelled there, and unknown here"]),
        (ended([], 10_000, 5000, None, "released"), ["T-1 is released there, and unknown here"]),
        (ended([IN], 11_500, 4000, None, "released"), [f"{IN.exchange_id} is awarded here and released there"]),
    ],
)
def test_each_id_is_in_one_place(found: Ended, faults: list[str]) -> None:
    assert list(faults_of_exchanges([BOB], found)) == faults

"""The deliveries that may start: a receiver that fails or is busy holds up no other."""

from collections.abc import Mapping

import pytest

from abacus.platform.delivery.deliverer import room
from abacus.platform.delivery.types import Concurrency

FEW = Concurrency(at_once=10, per_receiver=4)
ANY = Concurrency(at_once=10)

# How many are under way to each receiver, the receivers that failed last; how many may be taken: in all, for a, for b.
ROOMS = [
    (FEW, {}, set[str](), 10, 4, 4),
    (FEW, {"a": 3}, set[str](), 7, 1, 4),
    (FEW, {"a": 4, "b": 4}, set[str](), 2, 0, 0),
    (FEW, {"b": 1}, {"a"}, 9, 1, 3),
    (FEW, {"a": 1}, {"a"}, 9, 0, 4),
    (ANY, {"a": 9}, set[str](), 1, 1, 1),
    (ANY, {"a": 9}, {"a", "b"}, 1, 1, 1),
]


@pytest.mark.parametrize(("concurrency", "under_way", "failing", "most", "for_a", "for_b"), ROOMS)
def test_room(
    concurrency: Concurrency, under_way: Mapping[str, int], failing: set[str], *, most: int, for_a: int, for_b: int
) -> None:
    receivers = [receiver for receiver, count in under_way.items() for _ in range(count)]
    free = room(concurrency, receivers, failing)
    assert free.most == most
    assert [max(0, free.per_receiver - free.busy.get(receiver, 0)) for receiver in "ab"] == [for_a, for_b]

"""Limits how many deliveries are under way, in all and to each receiver. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable

from abacus.platform.delivery.types import Concurrency, Room


def room(concurrency: Concurrency, under_way: Iterable[str], failing: Collection[str]) -> Room:
    """Where deliveries to one receiver are limited, a slow receiver holds up only itself. A receiver whose last
    delivery failed gets one at a time until one succeeds, so that hanging receivers do not take the room of the others.
    """
    busy = Counter(under_way)
    most = concurrency.at_once - busy.total()
    if concurrency.per_receiver is None:
        return Room(most, most, {})
    busy.update(dict.fromkeys(failing, concurrency.per_receiver - 1))
    return Room(most, concurrency.per_receiver, busy)

"""Positions that partners post: published for the follower of positions, and kept nowhere else."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.kafka.publisher import DEPENDENCY, StreamMessage
from abacus.signals.places.decide.position import PositionMessage
from abacus.signals.places.metrics import POSITIONS_POSTED

MOST_IN_BATCH: Final = 100

# Returns when the topic of positions has every message. Raises `Unavailable` when that is not known.
Publish = Callable[[Sequence[StreamMessage]], Awaitable[None]]


class PositionDesk:
    """Takes the positions that callers post."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish

    async def post(self, positions: Sequence[PositionMessage]) -> None:
        """Returns when the broker has all of them. Raises `Unavailable` when that is not known: post them again."""
        await self._publish([StreamMessage(each.member_id.encode(), each.encoded()) for each in positions])
        POSITIONS_POSTED.labels("accepted").inc(len(positions))

    def rehearsing(self) -> "PositionDesk":
        """A desk that takes positions and publishes none."""
        return PositionDesk(_to_nobody)


async def without_broker(_: Sequence[StreamMessage]) -> None:
    """Where no broker is configured, no position can be taken."""
    raise Unavailable(DEPENDENCY, "this API has no broker: ABACUS_KAFKA_BOOTSTRAP is not set")


async def _to_nobody(_: Sequence[StreamMessage]) -> None:
    """Nothing is published, and nothing is missed."""

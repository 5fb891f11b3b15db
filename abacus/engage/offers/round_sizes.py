"""How many requests of taking go together in one round."""

from collections.abc import Sequence
from typing import TypeVar

from abacus.engage.offers.metrics import OFFER_ROUND_REQUESTS
from abacus.platform.gatherer import PendingRequest, Work

Request = TypeVar("Request")
Answer = TypeVar("Answer")


def sized(work: Work[Request, Answer], does: str) -> Work[Request, Answer]:
    """The same work, whose rounds are counted by what they do."""
    sizes = OFFER_ROUND_REQUESTS.labels(does)

    async def observed(together: Sequence[PendingRequest[Request, Answer]]) -> None:
        sizes.observe(len(together))
        await work(together)

    return observed

"""SQS does what SQS may do, more often than it does: in a proxy in front of it."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Final

from tests.reliability.chaos.faults.fault import Fault, Struck, Work
from tests.reliability.chaos.ground import ProvingGround
from tests.reliability.chaos.needs import Need

_HOW: Final = {
    "duplicate": (0.1, "SQS hands a message out again within 2 s, under the same receipt"),
    "late_duplicate": (0.05, "SQS hands a message out again a minute or more later, deleted or not"),
    "reorder": (0.2, "SQS hands a message out after up to 20 later ones"),
    "drop_delete": (0.2, "SQS deletes and says that it failed, or says that it deleted and did not"),
    "throttle": (0.1, "SQS answers that it is asked too much, or is not available"),
    "partial": (0.2, "SQS leaves entries of a batch undone"),
    "timeout": (0.05, "SQS never answers a call, carried out or not"),
}


def _work(misfortune: str, chance: float) -> Work:
    @asynccontextmanager
    async def work(ground: ProvingGround, _: Random) -> AsyncIterator[Struck]:
        proxy = ground.proxies.sqs
        proxy.faults = replace(proxy.faults, **{misfortune: chance})
        try:
            yield Counter()
        finally:
            proxy.faults = replace(proxy.faults, **{misfortune: 0.0})

    return work


SQS_FAULTS: Final = tuple(
    Fault(
        f"sqs-{misfortune.replace('_', '-')}",
        f"{how}: {chance:.0%} of them",
        _work(misfortune, chance),
        needs=frozenset({Need.PROXIES}),
        counts=(misfortune,),
    )
    for misfortune, (chance, how) in _HOW.items()
)

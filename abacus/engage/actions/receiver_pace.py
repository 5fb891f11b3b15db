"""The pace at which receivers get actions: a downstream of that name says it."""

from collections.abc import Callable

from abacus.core.clock import Clock
from abacus.engage.actions.action_runner import TurnsOf
from abacus.engage.downstreams.directory import ByName
from abacus.platform.pace.turns import take_turns
from abacus.platform.postgres import Pool


def turns_of(pool: Pool, downstreams: Callable[[], ByName], clock: Clock) -> TurnsOf:
    """By the pace of the downstream of that name, kept over all processes."""

    async def turns(receiver: str, wanted: int) -> int:
        signed = downstreams().get(receiver)
        if signed is None or signed.downstream.retired or signed.downstream.pace is None:
            return wanted
        return (await take_turns(pool, receiver, signed.downstream.pace, clock.now(), wanted)).turns

    return turns

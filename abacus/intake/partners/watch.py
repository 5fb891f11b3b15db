"""Waiting for awards to be posted: one question for all who wait, a few times a second."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final, Protocol
from uuid import UUID

from abacus.core.errors import Unavailable
from abacus.intake.partners.register import State, Status

_EVERY_S: Final = 0.05


class States(Protocol):
    """Where the states of awards are read."""

    async def states(self, ids: Iterable[UUID]) -> Mapping[UUID, State]: ...


class Watch:
    """One for each process."""

    def __init__(self, register: States) -> None:
        self._register = register
        self._waiting: dict[UUID, list[asyncio.Future[State]]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def outcome(self, award_id: UUID, seconds: float) -> State | None:
        """What became of the award, or nothing if that is not known in time."""
        answer: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(award_id, []).append(answer)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            return None
        finally:
            waiting = self._waiting.get(award_id, [])
            if answer in waiting:
                waiting.remove(answer)
            if not waiting:
                self._waiting.pop(award_id, None)

    async def _look(self) -> None:
        while self._waiting:
            try:
                states = await self._register.states(list(self._waiting))
            except Unavailable:
                states = {}
            for award_id, state in states.items():
                if state.status is not Status.QUEUED:
                    for answer in self._waiting.pop(award_id, []):
                        if not answer.done():
                            answer.set_result(state)
            await asyncio.sleep(_EVERY_S)

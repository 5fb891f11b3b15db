"""Waits for awards to be posted: one query for all waiting requests, a few times a second."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol
from uuid import UUID

from abacus.core.errors import Unavailable
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.platform.gatherer import Gatherer, PendingRequest

_EVERY_S: Final = 0.05


class States(Protocol):
    """The source of the states of awards."""

    async def states(self, ids: Iterable[UUID]) -> Mapping[UUID, AwardState]: ...


class Watch:
    """One for each process."""

    def __init__(self, register: States) -> None:
        self._register = register
        self._gatherer: Gatherer[UUID, AwardState | None] = Gatherer(self._look, gather_s=0, at_once=1)

    async def outcome(self, award_id: UUID, seconds: float) -> AwardState | None:
        """The state of the award once it is decided; None if that takes longer."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    state = await self._gatherer.ask(award_id)
                    if state is not None and state.status is not AwardStatus.QUEUED:
                        return state
        except TimeoutError:
            return None

    async def _look(self, together: Sequence[PendingRequest[UUID, AwardState | None]]) -> None:
        try:
            states = await self._register.states({waiting.request for waiting in together})
        except Unavailable:
            states = {}
        for waiting in together:
            waiting.answer(states.get(waiting.request))
        await asyncio.sleep(_EVERY_S)  # requests meanwhile are gathered for the next look

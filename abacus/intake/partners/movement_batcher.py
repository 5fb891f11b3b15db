"""The till: movements that arrive within a few milliseconds are done in one transaction; each is answered by itself.

A hundred callers that spend from one account would otherwise wait for each other's commits, one after the other.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

import structlog

from abacus.core.errors import Unavailable
from abacus.core.ids import PARTNERS
from abacus.intake.partners.award_intake import KeyReused
from abacus.ledger.types.movement import Moved, Movement, MovesPort
from abacus.ledger.types.posting import Unpostable

_GATHER_S: Final = 0.002
_MOST_TOGETHER: Final = 200
_HANDS: Final = 2  # while one waits for its commit, the other decides

log = structlog.get_logger(__name__)


class Awards(Protocol):
    """What partners asked for besides movements, under keys of the same kind. Raises `Unavailable`."""

    async def awards_among(self, keys: Iterable[str]) -> set[str]: ...


class _Waiting(NamedTuple):
    movement: Movement
    answer: "asyncio.Future[Moved]"


class Till:
    """One for each process. `close` waits for what is on its way."""

    def __init__(self, moves: MovesPort, awards: Awards) -> None:
        self._moves = moves
        self._awards = awards
        self._waiting: deque[_Waiting] = deque()
        self._busy: set[asyncio.Task[None]] = set()
        self._hands = asyncio.Semaphore(_HANDS)

    async def move(self, movement: Movement) -> Moved:
        """Raises `KeyReused` for the key of an award, and `Unavailable` when it is not known what became of it: asked
        again under its key, it is done once.
        """
        waiting = _Waiting(movement, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            self._begin()
        return await waiting.answer

    async def close(self) -> None:
        while self._busy:
            await asyncio.wait(self._busy)

    def _begin(self) -> None:
        task = asyncio.create_task(self._serve())
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    async def _serve(self) -> None:
        await asyncio.sleep(_GATHER_S)
        async with self._hands:
            together = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_TOGETHER))]
            if self._waiting:
                self._begin()
            await self._do(together)

    async def _without_awards(self, together: Sequence[_Waiting]) -> Sequence[_Waiting]:
        """Those whose key does not mean an award, which may still be on its way to the ledger. Raises `Unavailable`."""
        keys = {each.movement.key for each in together if each.movement.key.startswith(PARTNERS)}
        taken = await self._awards.awards_among(keys) if keys else set()
        for each in together:
            if each.movement.key in taken:
                _fail([each], KeyReused(each.movement.key))
        return [each for each in together if each.movement.key not in taken]

    async def _do(self, together: Sequence[_Waiting]) -> None:
        try:
            together = await self._without_awards(together)
            moved = await self._moves.move([each.movement for each in together]) if together else []
        except Unpostable as error:
            if len(together) > 1:  # the store does not say in which of them
                for each in together:
                    await self._do([each])
                return
            _fail(together, error)
        except Exception as error:  # each caller is told; the till stays open
            if not isinstance(error, Unavailable):
                log.exception("points could not be moved", movements=len(together))
                error = Unavailable("ledger", type(error).__name__)
            _fail(together, error)
        else:
            for each, answer in zip(together, moved, strict=True):
                if not each.answer.done():
                    each.answer.set_result(answer)


def _fail(together: Sequence[_Waiting], error: Exception) -> None:
    for each in together:
        if not each.answer.done():
            each.answer.set_exception(error)

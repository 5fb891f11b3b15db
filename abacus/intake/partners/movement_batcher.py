"""Posts in one transaction the movements that arrive within a few milliseconds, and answers each by itself.

A hundred callers that spend from one account would otherwise wait for each other's commits, one after the other.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeAlias

import structlog

from abacus.core.errors import LineStopped, Unavailable
from abacus.core.ids import PARTNERS
from abacus.intake.partners.award_intake import KeyReused
from abacus.ledger.types.movement import Moved, Movement, MovesPort
from abacus.ledger.types.port import Status, Unpostable
from abacus.platform.gatherer import Gatherer, PendingRequest

_GATHER_S: Final = 0.002
_MOST_TOGETHER: Final = 200
_ROUNDS_AT_ONCE: Final = 2  # while one waits for its commit, the other decides

log = structlog.get_logger(__name__)


class Awards(Protocol):
    """The register of partners' awards; awards and movements share one space of keys. Raises `Unavailable`."""

    async def awards_among(self, keys: Iterable[str]) -> set[str]: ...


_Request: TypeAlias = PendingRequest[Movement, Moved]


class MovementBatcher:
    """One for each process. `close` waits for the movements in progress."""

    def __init__(self, moves: MovesPort, awards: Awards) -> None:
        self._moves = moves
        self._awards = awards
        self._gatherer: Gatherer[Movement, Moved] = Gatherer(
            self._do, gather_s=_GATHER_S, most_together=_MOST_TOGETHER, at_once=_ROUNDS_AT_ONCE
        )

    async def move(self, movement: Movement) -> Moved:
        """Raises `KeyReused` for the key of an award, and `Unavailable` when the result is not known: a repetition
        under the same key does it once.
        """
        return await self._gatherer.ask(movement)

    async def close(self) -> None:
        await self._gatherer.close()

    async def _do(self, together: Sequence[_Request]) -> None:
        try:
            together = await self._without_awards(together)
            moved = await self._moves.move([each.request for each in together]) if together else []
        except Unpostable:
            if len(together) == 1:
                raise
            for each in together:  # the store does not say in which of them
                await self._do_alone(each)
        except (Unavailable, LineStopped):
            raise
        except Exception as error:
            log.exception("points could not be moved", movements=len(together))
            raise Unavailable("ledger", type(error).__name__) from error
        else:
            for each, answer in zip(together, moved, strict=True):
                if answer.status is Status.WAITS:
                    each.refuse(Unavailable("ledger", "the server of this member's slice is away"))
                else:
                    each.answer(answer)

    async def _do_alone(self, waiting: _Request) -> None:
        try:
            await self._do([waiting])
        except (Unpostable, Unavailable) as error:
            waiting.refuse(error)

    async def _without_awards(self, together: Sequence[_Request]) -> Sequence[_Request]:
        """The movements whose key is not the key of an award; an award may still be on its way to the ledger. Raises
        `Unavailable`.
        """
        keys = {each.request.key for each in together if each.request.key.startswith(PARTNERS)}
        taken = await self._awards.awards_among(keys) if keys else set()
        for each in together:
            if each.request.key in taken:
                each.refuse(KeyReused(each.request.key, "the first request was for an award"))
        return [each for each in together if each.request.key not in taken]

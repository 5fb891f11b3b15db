"""Posts in one transaction the movements that arrive within a few milliseconds, and answers each by itself.

A hundred callers that spend from one account would otherwise wait for each other's commits, one after the other.
"""

from collections.abc import Collection, Iterable, Sequence
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


# What became of a movement: `KeyReused` for the key of an award, `Unpostable` for a value that cannot be stored, and
# `Unavailable` where nobody knows.
Fate: TypeAlias = Moved | KeyReused | Unpostable | Unavailable

_Together: TypeAlias = Sequence[Movement]  # what one caller brought
_Request: TypeAlias = PendingRequest[_Together, Sequence[Fate]]


class MovementBatcher:
    """One for each process. `close` waits for the movements in progress."""

    def __init__(self, moves: MovesPort, awards: Awards) -> None:
        self._moves = moves
        self._awards = awards
        self._gatherer: Gatherer[_Together, Sequence[Fate]] = Gatherer(
            self._do, gather_s=_GATHER_S, most_together=_MOST_TOGETHER, at_once=_ROUNDS_AT_ONCE, size_of=len
        )

    async def move(self, movement: Movement) -> Moved:
        """Raises `KeyReused` for the key of an award, and `Unavailable` when the result is not known: a repetition
        under the same key does it once.
        """
        (fate,) = await self._gatherer.ask((movement,))
        if isinstance(fate, Exception):
            raise fate
        return fate

    async def move_all(self, movements: Sequence[Movement]) -> Sequence[Fate]:
        """The outcomes, in the order of the movements. Movements of one account are done in this order. Raises
        `Unavailable` when no outcome is known.
        """
        return await self._gatherer.ask(movements) if movements else ()

    async def close(self) -> None:
        await self._gatherer.close()

    async def _do(self, together: Sequence[_Request]) -> None:
        fates = iter(await self._fates([movement for each in together for movement in each.request]))
        for each in together:
            each.answer([next(fates) for _ in each.request])

    async def _fates(self, movements: Sequence[Movement]) -> Sequence[Fate]:
        """Raises `Unavailable` and `LineStopped`."""
        try:
            awarded = await self._keys_of_awards(movements)
            new = [movement for movement in movements if movement.key not in awarded] if awarded else movements
            fates = iter(await self._moved(new) if new else ())
        except (Unavailable, LineStopped):
            raise
        except Exception as error:
            log.exception("points could not be moved", movements=len(movements))
            raise Unavailable("ledger", type(error).__name__) from error
        return [
            KeyReused(movement.key, "the first request was for an award") if movement.key in awarded else next(fates)
            for movement in movements
        ]

    async def _moved(self, movements: Sequence[Movement]) -> Sequence[Fate]:
        try:
            moved = await self._moves.move(movements)
        except Unpostable as error:
            if len(movements) == 1:
                return [error]
            return [await self._alone(each) for each in movements]  # the store does not say in which of them
        return [_silent() if each.status is Status.WAITS else each for each in moved]

    async def _alone(self, movement: Movement) -> Fate:
        try:
            (fate,) = await self._fates([movement])
        except Unavailable as error:
            return error
        return fate

    async def _keys_of_awards(self, movements: Sequence[Movement]) -> Collection[str]:
        """The keys that are keys of awards; an award may still be on its way to the ledger. Raises `Unavailable`."""
        keys = {movement.key for movement in movements if movement.key.startswith(PARTNERS)}
        return await self._awards.awards_among(keys) if keys else ()


def _silent() -> Unavailable:
    return Unavailable("ledger", "the server of this member's slice is away")

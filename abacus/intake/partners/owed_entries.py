"""The register with a short time limit, for callers that cannot wait; while it is away, its entries are kept here."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeVar
from uuid import UUID

import structlog

from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import RegisterAnswer

DEPENDENCY: Final = "register"
_WITHIN_S: Final = 2.0
_ASK_AGAIN_AFTER_S: Final = 1.0
_MOST_OWED: Final = 100_000  # entries that a process remembers for a database that is away
_MOST_TOGETHER: Final = 500

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")


class Entries(Protocol):
    """The register, as the award intake uses it. Every method raises `Unavailable`."""

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, RegisterAnswer]: ...

    async def queued(self, ids: Sequence[UUID]) -> None: ...

    async def enter_queued(self, entries: Sequence[Entry]) -> None: ...

    async def release(self, ids: Sequence[UUID]) -> None: ...


class OwedEntries:
    """One for each process. While the register is known to be away, only `keep` calls it."""

    def __init__(self, register: Entries) -> None:
        self._register = register
        self._is_away = False
        self._owed: dict[UUID, Entry] = {}

    def __len__(self) -> int:
        """The number of entries that the register lacks, or lacks the note that the queue has them."""
        return len(self._owed)

    def get(self, award_id: UUID) -> Entry | None:
        return self._owed.get(award_id)

    def remember(self, sent: Sequence[Entry]) -> None:
        """Keeps entries that the queue has, until the register has noted them."""
        if len(self._owed) + len(sent) > _MOST_OWED:
            log.warning("too many entries to remember; the ledger makes them when it posts", entries=len(sent))
            return
        self._owed.update({entry.award_id: entry for entry in sent})

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, RegisterAnswer]:
        """Raises `Unavailable`: at once while the register is known to be away, as no award waits for that."""
        return await self._answer(lambda: self._register.take(entries))

    async def note_queued(self, ids: Sequence[UUID]) -> None:
        """Notes that the queue has the awards; an entry that cannot be noted now is kept for later."""
        if await self._is_done(lambda: self._register.queued(ids)):
            self._forget(ids)

    async def release(self, ids: Sequence[UUID]) -> None:
        """Notes that the queue did not take the awards; while the register is away, their claim ends by itself."""
        await self._is_done(lambda: self._register.release(ids))

    async def keep(self) -> None:
        """Runs until cancelled: gives the register the entries that it lacks, as soon as it is back."""
        while True:
            await asyncio.sleep(_ASK_AGAIN_AFTER_S)
            if self._is_away:
                await self._is_done(lambda: self._register.queued([]), although_away=True)
            while self._owed and await self._pay():
                pass

    async def _pay(self) -> bool:
        entries = list(self._owed.values())[:_MOST_TOGETHER]
        paid = await self._is_done(lambda: self._register.enter_queued(entries))
        if paid:
            self._forget([entry.award_id for entry in entries])
        return paid

    def _forget(self, ids: Sequence[UUID]) -> None:
        for id_ in ids:
            self._owed.pop(id_, None)

    async def _is_done(self, statement: Callable[[], Awaitable[None]], *, although_away: bool = False) -> bool:
        try:
            await self._answer(statement, although_away=although_away)
        except Unavailable:
            return False
        return True

    async def _answer(self, question: Callable[[], Awaitable[Answer]], *, although_away: bool = False) -> Answer:
        if self._is_away and not although_away:
            raise Unavailable(DEPENDENCY, "it was away a moment ago")
        try:
            async with asyncio.timeout(_WITHIN_S):
                answer = await question()
        except (Unavailable, TimeoutError) as error:
            why = str(error) or "no answer in time"
            if not self._is_away:
                log.warning("awards are accepted without the register", away=Unavailable(DEPENDENCY, why))
            self._is_away = True
            raise Unavailable(DEPENDENCY, why) from error
        if self._is_away:
            log.info("the register is back", owed=len(self._owed))
        self._is_away = False
        return answer

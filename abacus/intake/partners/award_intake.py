"""The door: awards that arrive within a few milliseconds are entered, sent and answered together. Those whose points
cannot be computed now leave by the retry queue.

An award is entered in the register before it is sent, so that its key means one thing in every process. While the
database is away nothing can be entered: awards are sent all the same, the ledger decides on their keys, and the entries
are made up for when the database is back.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar
from uuid import UUID

import structlog

from abacus.core.errors import AbacusError, Unavailable
from abacus.intake.earning.decide.source_message import encode_retry
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import Reception, RegisterAnswer
from abacus.ledger.types.award import Award
from abacus.ledger.types.award_envelope import encode_award
from abacus.platform.sqs.packing import pack_counting
from abacus.platform.sqs.port import Queue, Unsent

GATHER_S: Final = 0.003
MOST_TOGETHER: Final = 500
DEPENDENCY: Final = "register"
_FLIGHTS: Final = 4
_DATABASE_WITHIN_S: Final = 2.0
_ASK_AGAIN_AFTER_S: Final = 1.0
_MOST_WAITING: Final = 10_000  # requests that a process holds while the queue does not answer
_MOST_OWED: Final = 100_000  # entries that a process remembers for a database that is away

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")


class KeyInFlight(AbacusError):
    """The same key is being dealt with at this moment."""


class KeyReused(AbacusError):
    """The same key was used for other facts."""


class Accepted(NamedTuple):
    """The queue has the award: now, or (`replayed`) since an earlier request. Points that are `provisional` are
    computed anew before they are posted.
    """

    award: Award
    replayed: bool
    provisional: bool = False


class _Flown(NamedTuple):
    """Who got away, who did not, and why not."""

    sent: "list[_Waiting]"
    unsent: "list[_Waiting]"
    why: str


class Entries(Protocol):
    """The register, as the door uses it. Every method raises `Unavailable`."""

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, RegisterAnswer]: ...

    async def queued(self, ids: Sequence[UUID]) -> None: ...

    async def enter_queued(self, entries: Sequence[Entry]) -> None: ...

    async def release(self, ids: Sequence[UUID]) -> None: ...


class _Waiting(NamedTuple):
    entry: Entry
    answer: "asyncio.Future[Accepted]"


class Door:
    """One for each process. `close` waits for what is on its way."""

    def __init__(
        self,
        queue: Queue,
        retry_queue: Queue,
        register: Entries,
        *,
        gather_s: float = GATHER_S,
        most_together: int = MOST_TOGETHER,
    ) -> None:
        self._queue = queue
        self._retry_queue = retry_queue
        self._register = register
        self._gather_s = gather_s
        self._most_together = most_together
        self._waiting: deque[_Waiting] = deque()
        self._inside: set[UUID] = set()
        self._flights: set[asyncio.Future[object]] = set()
        self._may_fly = asyncio.Semaphore(_FLIGHTS)
        self._database_is_away = False
        self._owed: dict[UUID, Entry] = {}

    async def enter(self, entry: Entry) -> Accepted:
        """Returns when the queue has the award. Raises `KeyInFlight`, `KeyReused`, or `Unavailable`: then it has not,
        as far as anyone can tell.
        """
        if len(self._waiting) >= _MOST_WAITING:
            raise Unavailable("award queue", "too many awards wait for it")
        id_ = entry.award_id
        if id_ in self._inside:
            raise KeyInFlight(entry.award.key)
        self._inside.add(id_)
        try:
            waiting = _Waiting(entry, asyncio.get_running_loop().create_future())
            self._waiting.append(waiting)
            if len(self._waiting) == 1:
                self._launch(self._fly())
            return await waiting.answer
        finally:
            self._inside.discard(id_)

    @property
    def owed(self) -> int:
        """Entries that the register does not know of yet, or not that the queue has them."""
        return len(self._owed)

    def remembered(self, award_id: UUID) -> Entry | None:
        """What the queue has and the register does not know of yet."""
        return self._owed.get(award_id)

    async def keep_books(self) -> None:
        """Until cancelled: look whether a database that was away is back, and make up for the entries that could not
        be made.
        """
        while True:
            await asyncio.sleep(_ASK_AGAIN_AFTER_S)
            if self._database_is_away:
                await self._told(lambda: self._register.queued([]), although_away=True)
            while self._owed and await self._pay():
                pass

    async def _pay(self) -> bool:
        entries = list(self._owed.values())[: self._most_together]
        paid = await self._told(lambda: self._register.enter_queued(entries))
        if paid:
            for entry in entries:
                self._owed.pop(entry.award_id, None)
        return paid

    async def close(self) -> None:
        while self._flights:
            await asyncio.wait(self._flights)

    def _launch(self, flight: Awaitable[object]) -> None:
        task = asyncio.ensure_future(flight)
        self._flights.add(task)
        task.add_done_callback(self._flights.discard)

    async def _fly(self) -> None:
        await asyncio.sleep(self._gather_s)
        async with self._may_fly:
            together = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._most_together))]
            if self._waiting:
                self._launch(self._fly())
            try:
                await self._deal_with(together)
            except Exception as error:  # each caller is told; the door stays open
                log.exception("awards could not be accepted", awards=len(together))
                for waiting in together:
                    if not waiting.answer.done():
                        waiting.answer.set_exception(Unavailable("award queue", type(error).__name__))

    async def _deal_with(self, together: Sequence[_Waiting]) -> None:
        found = {w.entry.award_id: self._remembered(w.entry) for w in together if w.entry.award_id in self._owed}
        new = [waiting.entry for waiting in together if waiting.entry.award_id not in found]
        try:
            found |= await self._asked(lambda: self._register.take(new)) if new else {}
            entered = True
        except Unavailable:
            found |= {entry.award_id: RegisterAnswer(Reception.OURS, entry.award, entry.provisional) for entry in new}
            entered = False
        to_send: list[_Waiting] = []
        for waiting in together:
            received = found[waiting.entry.award_id]
            match received.reception:
                case Reception.OURS:
                    to_compute = waiting.entry.to_compute if received.provisional else None
                    entry = waiting.entry._replace(award=received.award, to_compute=to_compute)
                    to_send.append(waiting._replace(entry=entry))
                case Reception.QUEUED:
                    _answer(waiting, Accepted(received.award, replayed=True, provisional=received.provisional))
                case Reception.IN_FLIGHT:
                    _refuse(waiting, KeyInFlight(waiting.entry.award.key))
                case Reception.OTHER_FACTS:
                    _refuse(waiting, KeyReused(waiting.entry.award.key))
        if to_send:
            await self._send(to_send, entered=entered)

    def _remembered(self, entry: Entry) -> RegisterAnswer:
        """What this process knows of a key for which it owes the register an entry."""
        earlier = self._owed[entry.award_id]
        same = earlier.award.fingerprint == entry.award.fingerprint
        return RegisterAnswer(Reception.QUEUED if same else Reception.OTHER_FACTS, earlier.award, earlier.provisional)

    async def _send(self, to_send: Sequence[_Waiting], *, entered: bool) -> None:
        awards = [(waiting, encode_award(waiting.entry.award)) for waiting in to_send if not waiting.entry.to_compute]
        later = [(waiting, encode_retry(waiting.entry.to_compute)) for waiting in to_send if waiting.entry.to_compute]
        flown = await asyncio.gather(
            _sent_on(self._queue, "awards", awards), _sent_on(self._retry_queue, "retries", later)
        )
        sent = [waiting for each in flown for waiting in each.sent]
        unsent = [waiting for each in flown for waiting in each.unsent]
        self._owe([waiting.entry for waiting in sent])
        for waiting in sent:
            entry = waiting.entry
            _answer(waiting, Accepted(entry.award, replayed=False, provisional=entry.provisional))
        for each in flown:
            for waiting in each.unsent:
                _refuse(waiting, Unavailable("award queue", each.why))
        # Neither the answers nor the next flight wait for these: until they are done, this process knows.
        if sent and entered:
            self._launch(self._note([waiting.entry.award_id for waiting in sent]))
        if unsent:
            self._launch(self._told(lambda: self._register.release([waiting.entry.award_id for waiting in unsent])))

    def _owe(self, sent: Sequence[Entry]) -> None:
        if len(self._owed) + len(sent) > _MOST_OWED:
            log.warning("too many entries to remember; the ledger makes them when it posts", entries=len(sent))
            return
        self._owed.update({entry.award_id: entry for entry in sent})

    async def _note(self, ids: Sequence[UUID]) -> None:
        """The queue has them; what cannot be noted now is made up for later."""
        if await self._told(lambda: self._register.queued(ids)):
            for id_ in ids:
                self._owed.pop(id_, None)

    async def _told(self, statement: Callable[[], Awaitable[None]], *, although_away: bool = False) -> bool:
        try:
            await self._asked(statement, although_away=although_away)
        except Unavailable:
            return False
        return True

    async def _asked(self, question: Callable[[], Awaitable[Answer]], *, although_away: bool = False) -> Answer:
        """The register's answer. Raises `Unavailable`, at once while the database is known to be away: no award waits
        for one that does not even refuse.
        """
        if self._database_is_away and not although_away:
            raise Unavailable(DEPENDENCY, "it was away a moment ago")
        try:
            async with asyncio.timeout(_DATABASE_WITHIN_S):
                answer = await question()
        except (Unavailable, TimeoutError) as error:
            why = str(error) or "no answer in time"
            if not self._database_is_away:
                log.warning("the register is away; awards are accepted without it", why=why)
            self._database_is_away = True
            raise Unavailable(DEPENDENCY, why) from error
        if self._database_is_away:
            log.info("the register is back", owed=len(self._owed))
        self._database_is_away = False
        return answer


async def _sent_on(queue: Queue, name: str, items: Sequence[tuple[_Waiting, bytes]]) -> _Flown:
    """In as few envelopes as they fit in; a failed envelope fails only those in it."""
    if not items:
        return _Flown([], [], "")
    packed = list(pack_counting(name, (item for _, item in items)))
    left: set[str] = set()
    why = ""
    try:
        await queue.send([body for body, _ in packed])
    except Unsent as error:
        left, why = set(error.remaining), error.detail
    flown = _Flown([], [], why)
    rest = iter(items)
    for body, count in packed:
        aboard = [next(rest)[0] for _ in range(count)]
        (flown.unsent if body in left else flown.sent).extend(aboard)
    return flown


def _answer(waiting: _Waiting, accepted: Accepted) -> None:
    if not waiting.answer.done():
        waiting.answer.set_result(accepted)


def _refuse(waiting: _Waiting, error: AbacusError) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(error)

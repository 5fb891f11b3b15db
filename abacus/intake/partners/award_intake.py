"""The award intake enters, sends and answers together the awards that arrive within a few milliseconds. Awards whose
points cannot be computed now go to the retry queue.

An award is entered in the register before it is sent, so that its key means one thing in every process. While the
database is away nothing can be entered: awards are sent all the same, the ledger decides on their keys, and the missing
entries are made when the database is back.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias
from uuid import UUID

import structlog

from abacus.core.errors import AbacusError, LineStopped, Unavailable
from abacus.intake.earning.decide.source_message import encode_retry
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.owed_entries import Entries, OwedEntries
from abacus.intake.partners.register import Reception, RegisterAnswer
from abacus.ledger.decide.reused_key import differing, facts_of_award
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.sqs.packer import Packed, pack_compressed, pack_counting
from abacus.platform.sqs.port import Unsent

_GATHER_S: Final = 0.006
_MOST_TOGETHER: Final = 500
_ROUNDS_AT_ONCE: Final = 4
_MOST_WAITING: Final = 10_000  # requests that a process holds while the queue does not answer

log = structlog.get_logger(__name__)


class KeyInFlight(AbacusError):
    """Another request with the same key is in progress."""


class KeyReused(AbacusError):
    """The same key was used for other facts; `detail` says which."""

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(key, detail)
        self.detail = detail


class AlreadyAwarded(AbacusError):
    """The transaction has its award under another key, which is `awarded_as`."""

    def __init__(self, transaction: str, awarded_as: str) -> None:
        super().__init__(transaction, awarded_as)
        self.transaction = transaction
        self.awarded_as = awarded_as


class Accepted(NamedTuple):
    """The queue has the award: now, or (`replayed`) since an earlier request. Points that are `provisional` are
    computed anew before they are posted.
    """

    award: Award
    replayed: bool
    provisional: bool = False


_Request: TypeAlias = PendingRequest[Entry, Accepted]


class _Sent(NamedTuple):
    """The requests whose awards the queue took or did not take, and the reason."""

    sent: list[_Request]
    unsent: list[_Request]
    why: str


class SendsTo(Protocol):
    """The half of a queue that takes messages."""

    @property
    def name(self) -> str: ...

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        """Returns when the queue has taken every body. Raises `Unsent` with the bodies that it has not taken."""
        ...


class AwardIntake:
    """One for each process. `close` waits for the requests in progress."""

    def __init__(
        self,
        queue: SendsTo,
        retry_queue: SendsTo,
        register: Entries,
        *,
        gather_s: float = _GATHER_S,
        most_together: int = _MOST_TOGETHER,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self._queue = queue
        self._retry_queue = retry_queue
        self._owed = OwedEntries(register)
        self._most_waiting = most_waiting
        self._gatherer: Gatherer[Entry, Accepted] = Gatherer(
            self._accept, gather_s=gather_s, most_together=most_together, at_once=_ROUNDS_AT_ONCE
        )
        self._inside: set[UUID] = set()

    async def enter(self, entry: Entry) -> Accepted:
        """Returns when the queue has the award. Raises `KeyInFlight`, `KeyReused`, `AlreadyAwarded`, or `Unavailable`
        when nothing confirms that the queue took it.
        """
        if self._gatherer.waiting >= self._most_waiting:
            raise Unavailable("award queue", "too many awards wait for it")
        id_ = entry.award_id
        if id_ in self._inside:
            raise KeyInFlight(entry.award.key)
        self._inside.add(id_)
        try:
            return await self._gatherer.ask(entry)
        finally:
            self._inside.discard(id_)

    @property
    def owed(self) -> int:
        """The number of entries that the register lacks, or lacks the note that the queue has them."""
        return len(self._owed)

    def remembered(self, award_id: UUID) -> Entry | None:
        """The entry of an award that the queue has and the register lacks."""
        return self._owed.get(award_id)

    async def keep_books(self) -> None:
        """Runs until cancelled: makes the missing entries when the database is back."""
        await self._owed.keep()

    async def close(self) -> None:
        await self._gatherer.close()

    async def _accept(self, together: Sequence[_Request]) -> None:
        try:
            await self._enter_and_send(together)
        except (Unavailable, LineStopped):
            raise
        except Exception as error:
            log.exception("awards could not be accepted", awards=len(together))
            raise Unavailable("award queue", type(error).__name__) from error

    async def _enter_and_send(self, together: Sequence[_Request]) -> None:
        receptions = {
            waiting.request.award_id: _as_remembered(waiting.request, earlier)
            for waiting in together
            if (earlier := self._owed.get(waiting.request.award_id)) is not None
        }
        new = [waiting.request for waiting in together if waiting.request.award_id not in receptions]
        try:
            receptions |= await self._owed.take(new) if new else {}
            entered = True
        except Unavailable:
            receptions |= {
                entry.award_id: RegisterAnswer(Reception.OURS, entry.award, entry.provisional) for entry in new
            }
            entered = False
        to_send: list[_Request] = []
        for waiting in together:
            entry = waiting.request
            received = receptions[entry.award_id]
            match received.reception:
                case Reception.OURS:
                    to_send.append(waiting if received.award is entry.award else _as_entered(waiting, received))
                case Reception.QUEUED:
                    waiting.answer(Accepted(received.award, replayed=True, provisional=received.provisional))
                case Reception.IN_FLIGHT:
                    waiting.refuse(KeyInFlight(entry.award.key))
                case Reception.OTHER_FACTS:
                    known = received.award is not entry.award  # which the register gives back without a row
                    first = facts_of_award(received.award) if known else {}
                    waiting.refuse(KeyReused(entry.award.key, differing(first, facts_of_award(entry.award))))
                case Reception.AWARDED:
                    transaction = entry.award.transaction
                    waiting.refuse(AlreadyAwarded(transaction.key if transaction else "", received.awarded_as or ""))
        if to_send:
            await self._send(to_send, entered=entered)

    async def _send(self, to_send: Sequence[_Request], *, entered: bool) -> None:
        awards: list[tuple[_Request, bytes]] = []
        later: list[tuple[_Request, bytes]] = []
        for waiting in to_send:
            entry = waiting.request
            if entry.to_compute is None:
                awards.append((waiting, encode_award(entry.award)))
            else:
                later.append((waiting, encode_retry(entry.to_compute)))
        batches = await asyncio.gather(
            _sent_on(self._queue, awards, pack_compressed("awards", (award for _, award in awards))),
            _sent_on(self._retry_queue, later, pack_counting("retries", (retry for _, retry in later))),
        )
        sent = [waiting.request for batch in batches for waiting in batch.sent]
        unsent = [waiting.request.award_id for batch in batches for waiting in batch.unsent]
        self._owed.remember(sent)
        for batch in batches:
            for waiting in batch.sent:
                entry = waiting.request
                waiting.answer(Accepted(entry.award, replayed=False, provisional=entry.provisional))
            for waiting in batch.unsent:
                waiting.refuse(Unavailable("award queue", batch.why))
        # Neither the answers nor the next round wait for the register: until it is done, this process remembers.
        if sent and entered:
            self._gatherer.beside(self._owed.note_queued([entry.award_id for entry in sent]))
        if unsent:
            self._gatherer.beside(self._owed.release(unsent))


def _as_entered(waiting: _Request, received: RegisterAnswer) -> _Request:
    """The request with the award that an earlier request has entered."""
    entry = waiting.request
    to_compute = entry.to_compute if received.provisional else None
    award = received.award._replace(transaction=entry.award.transaction)  # a row does not hold it
    return waiting._replace(request=entry._replace(award=award, to_compute=to_compute))


def _as_remembered(entry: Entry, earlier: Entry) -> RegisterAnswer:
    """The answer for a key for which this process owes the register an entry."""
    same = earlier.award.fingerprint == entry.award.fingerprint
    return RegisterAnswer(Reception.QUEUED if same else Reception.OTHER_FACTS, earlier.award, earlier.provisional)


async def _sent_on(queue: SendsTo, items: Sequence[tuple[_Request, bytes]], envelopes: Iterable[Packed]) -> _Sent:
    """Sends the envelopes of the items; a failed envelope fails only its own items."""
    if not items:
        return _Sent([], [], "")
    packed = list(envelopes)
    left: set[str] = set()
    why = ""
    try:
        await queue.send([body for body, _ in packed])
    except Unsent as error:
        left, why = set(error.remaining), error.detail
    batch = _Sent([], [], why)
    rest = iter(items)
    for body, count in packed:
        aboard = [next(rest)[0] for _ in range(count)]
        (batch.unsent if body in left else batch.sent).extend(aboard)
    return batch

"""The awarder: envelopes from the award queue are posted to the ledger."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from abacus.core.errors import LineStopped, Reason, SetAside, Unavailable
from abacus.intake.awarding.door import Door, item_of_award, item_of_reversal
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Declined, Moved, MovesPort, Reversal
from abacus.ledger.types.port import AwardOutcome, LedgerPort, SliceAway, Status, Unpostable
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.platform.slices import SliceMap
from abacus.platform.sqs.port import Received

MOST_FAILURES: Final = 3  # more of them have one cause, and it is in none of these things

Thing = TypeVar("Thing")
Result = TypeVar("Result")


async def isolate_failures(
    things: Sequence[Thing],
    work: Callable[[Sequence[Thing]], Awaitable[list[Result]]],
    refused: Callable[[Thing, Unpostable], Result],
    failures: list[Exception] | None,
) -> list[Result]:
    """The results in order; `refused` makes the result of a thing whose values the store does not take.

    Any other failure of a single thing is added to `failures`, and that thing has no result. If `failures` is None, or
    holds many already, the failure is raised.
    """
    try:
        return await work(things)
    except (Unavailable, LineStopped):
        raise
    except Exception as error:
        if isinstance(error, Unpostable):
            if len(things) == 1:
                return [refused(things[0], error)]
        elif failures is None or len(failures) == MOST_FAILURES:
            raise
        elif len(things) == 1:
            failures.append(error)
            return []
    middle = len(things) // 2
    first = await isolate_failures(things[:middle], work, refused, failures)
    return first + await isolate_failures(things[middle:], work, refused, failures)


MOST_AWARDS: Final = 500  # a transaction; ten messages may bring eight times as many
_HANDS: Final = 2  # while one waits for Postgres, the other decodes and computes
LATER_S: Final = 30  # after so long, messages for a server that is away come again

# Puts messages on the queue again, to come later.
Later = Callable[[Sequence[str]], Awaitable[None]]


def hands_for(slice_map: SliceMap) -> int:
    """How many hands an awarder works with: where a ledger is cut, two for each slice. What all of them hold is posted
    slice by slice, so a slice is given as much at a time as a whole ledger is.
    """
    return _HANDS * slice_map.slices


class Awarder:
    """Handles messages of the award queue: posts all their awards, some hundreds a transaction, and sets bad awards
    aside one by one; then posts the reversals of refunds. An unforeseen failure of one award fails its message, after
    the message's other awards are posted.

    Where a slice of the ledger lies on a server that is away, `later` puts the messages for it on the queue
    again, to come in a while: held in our hands, they would keep all other slices' messages waiting.
    """

    def __init__(
        self,
        door: Door,
        ledger: LedgerPort,
        moves: MovesPort,
        quarantine: QuarantinePort,
        *,
        later: Later | None = None,
    ) -> None:
        self._door = door
        self._later = later
        self._ledger = ledger
        self._moves = moves
        self._quarantine = quarantine

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        admitted = await self._door.admit([envelope.body for envelope in received])
        awards, reversals, bad = admitted.awards, admitted.reversals, admitted.bad
        # The caller first isolates the message at fault, by handing messages over singly; then this isolates its award.
        failures: list[Exception] | None = [] if len(received) == 1 else None
        waiting: set[str] = set()
        for start in range(0, len(awards), MOST_AWARDS):
            posting = isolate_failures(awards[start : start + MOST_AWARDS], self._post, _refused, failures)
            outcomes = await posting
            bad += [item for outcome in outcomes if (item := _set_aside(outcome)) is not None]
            waiting |= {outcome.award.key for outcome in outcomes if outcome.status is Status.WAITS}
        for start in range(0, len(reversals), MOST_AWARDS):
            moving = isolate_failures(
                reversals[start : start + MOST_AWARDS], self._take_back, _refused_reversal, failures
            )
            fates = await moving
            bad += [item for moved in fates if (item := _set_aside_reversal(moved)) is not None]
            waiting |= {moved.movement.key for moved in fates if moved.status is Status.WAITS}
        await self._quarantine.add(bad)
        if failures:
            raise failures[0]
        if waiting:
            await self._come_again([received[place] for place in admitted.envelopes_with(waiting)], len(waiting))
        return received

    async def _come_again(self, messages: Sequence[Received], waiting: int) -> None:
        """These messages, as they are: what else is in them is a duplicate then."""
        if self._later is None:
            raise Unavailable("ledger", f"the server of a slice is away; {waiting} wait for it")
        await self._later([each.body for each in messages])

    async def _take_back(self, reversals: Sequence[Reversal]) -> list[Moved]:
        try:
            return await self._moves.move(reversals)
        except SliceAway:
            return [Moved(reversal, Status.WAITS) for reversal in reversals]

    async def _post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        try:
            return await self._ledger.post(awards)
        except SliceAway:
            return [AwardOutcome(award, Status.WAITS) for award in awards]


def _refused(award: Award, error: Unpostable) -> AwardOutcome:
    return AwardOutcome(award, Status.REFUSED, fault=SetAside(Reason.UNPOSTABLE, str(error)))


def _refused_reversal(reversal: Reversal, error: Unpostable) -> Moved:
    return Moved(reversal, Status.REFUSED, fault=SetAside(Reason.UNPOSTABLE, str(error)))


def _set_aside(outcome: AwardOutcome) -> Item | None:
    if outcome.status is Status.CONFLICT and outcome.claim is not None:
        claim = outcome.claim
        where = f"is posted for other facts: {claim.member_id}, {claim.program}, seq {claim.seq}"
        what = where if claim.seq else "was entered for a member of another slice, and nothing is posted yet"
        return _contradicting(outcome.award, what, claim.fingerprint)
    if outcome.status is Status.CONFLICT and outcome.rejection is not None:
        return _contradicting(outcome.award, "was rejected for other facts", outcome.rejection.fingerprint)
    if outcome.fault is not None:
        return item_of_award(outcome.award, outcome.fault)
    return None


def _set_aside_reversal(moved: Moved) -> Item | None:
    reversal = moved.movement
    assert isinstance(reversal, Reversal)  # noqa: S101  # as they went in
    if moved.status is Status.CONFLICT and moved.claim is not None:
        fault: SetAside | Declined = SetAside(Reason.KEY_CONFLICT, f"{reversal.key} is posted for other facts")
        return _reversal_item(reversal, fault, moved.claim.fingerprint)
    return None if moved.fault is None else _reversal_item(reversal, moved.fault)


def _reversal_item(reversal: Reversal, fault: SetAside | Declined, posted_fingerprint: str | None = None) -> Item:
    aside = SetAside(Reason.INVALID, fault.detail) if isinstance(fault, Declined) else fault
    return replace(item_of_reversal(reversal, aside), posted_fingerprint=posted_fingerprint)


def _contradicting(award: Award, what: str, posted_fingerprint: str) -> Item:
    item = item_of_award(award, SetAside(Reason.KEY_CONFLICT, f"{award.key} {what}"))
    return replace(item, posted_fingerprint=posted_fingerprint)

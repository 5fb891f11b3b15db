"""The verdict on a message, or on a partner's request, from its facts. Pure."""

from enum import StrEnum
from typing import Final, NamedTuple


class Verdict(StrEnum):
    """The verdicts. Every message has exactly one."""

    AWARDED = "awarded"  # the ledger has its award, once
    DUPLICATE = "duplicate"  # it says again what was awarded for an earlier message
    IGNORED = "ignored"  # an event that the card does not list
    QUARANTINED = "quarantined"  # set aside with its reason
    REJECTED = "rejected"  # its partner had met a limit
    NOT_ACCEPTED = "not accepted"  # entered, and never taken by the queue: its partner was told so
    IN_FLIGHT = "in flight"  # not read yet, or on the award queue, or perhaps in retry
    IN_RETRY = "in retry"  # only the retry queue can have it
    DEAD_LETTER = "dead letter"  # only a dead-letter queue can have it
    MISSING = "missing"  # nothing has it
    DOUBLED = "doubled"  # its key was posted more than once


ON_THE_WAY: Final = frozenset({Verdict.IN_FLIGHT, Verdict.IN_RETRY})
FAULTS: Final = frozenset({Verdict.DEAD_LETTER, Verdict.MISSING, Verdict.DOUBLED})


class Queues(NamedTuple):
    """About how many messages each queue held, counted after the offsets were read: the retry queue first, because
    from there a transaction goes to the award queue and never back.
    """

    retry: int
    award: int
    dead: int


class Facts(NamedTuple):
    """The facts about a message. `posted` says what the ledger has under its key: the same facts, or others."""

    ignored: bool
    posted: str | None
    first: bool  # of the messages with the same facts
    posted_before: bool  # longer before the message was sent than clocks differ
    doubled: bool
    held: str | None  # the reason for which the quarantine holds it
    read: bool  # by the calculator
    settled: bool
    overdue: bool


class Ask(NamedTuple):
    """The facts about an award that a partner requested."""

    queued: bool
    posted: str | None
    doubled: bool
    rejected: bool
    held: str | None
    settled: bool
    overdue: bool


SAME: Final = "same"
OTHER: Final = "other"


def verdict_of(facts: Facts, queues: Queues) -> Verdict:
    """The verdict. A posting counts first, then the quarantine; without a trace, the places that can still have the
    message.
    """
    if facts.posted == SAME:
        if facts.posted_before or not facts.first:
            return Verdict.DUPLICATE
        return Verdict.DOUBLED if facts.doubled else Verdict.AWARDED
    if facts.held is not None:
        return Verdict.QUARANTINED
    if facts.ignored:
        return Verdict.IGNORED
    if not facts.read:
        return Verdict.IN_FLIGHT
    return _without_trace(facts, queues)


def verdict_of_ask(ask: Ask, queues: Queues) -> Verdict:
    if ask.posted == SAME:
        return Verdict.DOUBLED if ask.doubled else Verdict.AWARDED
    if ask.rejected:
        return Verdict.REJECTED
    if ask.held is not None:
        return Verdict.QUARANTINED
    if not ask.queued:
        return Verdict.NOT_ACCEPTED
    return _without_trace(ask, queues)


def _without_trace(age: Facts | Ask, queues: Queues) -> Verdict:
    """An unsettled message may be anywhere, whatever the queues' counts say: they lag behind. An overdue message has
    outlived every retry.
    """
    if not age.settled:
        return Verdict.IN_FLIGHT
    if not age.overdue and queues.award:
        return Verdict.IN_FLIGHT
    if not age.overdue and queues.retry:
        return Verdict.IN_RETRY
    return Verdict.DEAD_LETTER if queues.dead else Verdict.MISSING

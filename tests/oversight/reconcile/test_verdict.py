"""The verdict on a message: each combination of facts has one, and a posting counts first."""

import pytest

from abacus.oversight.reconcile.decide.verdict import (
    OTHER,
    SAME,
    Ask,
    Facts,
    Queues,
    Verdict,
    verdict_of,
    verdict_of_ask,
)

EMPTY = Queues(0, 0, 0)
AWARDS = Queues(0, 1, 0)
RETRIES = Queues(1, 0, 0)
BOTH = Queues(1, 1, 0)
LETTERS = Queues(0, 0, 1)
ALL = Queues(1, 1, 1)

# Read by the calculator long enough ago, and without a trace.
NO_TRACE = Facts(
    ignored=False,
    posted=None,
    first=False,
    posted_before=False,
    doubled=False,
    held=None,
    read=True,
    settled=True,
    overdue=False,
)
AWARDED = NO_TRACE._replace(posted=SAME, first=True)

MESSAGES: dict[str, tuple[Facts, Queues, Verdict]] = {
    "posted": (AWARDED, EMPTY, Verdict.AWARDED),
    "posted, read or not": (AWARDED._replace(read=False), EMPTY, Verdict.AWARDED),
    "posted, and overdue": (AWARDED._replace(overdue=True), LETTERS, Verdict.AWARDED),
    "posted, after it was held": (AWARDED._replace(held="unknown-vertical"), EMPTY, Verdict.AWARDED),
    "posted, and ignored by the card of today": (AWARDED._replace(ignored=True), EMPTY, Verdict.AWARDED),
    "posted, sent again": (AWARDED._replace(first=False), EMPTY, Verdict.DUPLICATE),
    "posted for one before the window": (AWARDED._replace(posted_before=True), EMPTY, Verdict.DUPLICATE),
    "posted twice": (AWARDED._replace(doubled=True), EMPTY, Verdict.DOUBLED),
    "posted twice, sent again": (AWARDED._replace(doubled=True, first=False), EMPTY, Verdict.DUPLICATE),
    "posted for other facts, held": (NO_TRACE._replace(posted=OTHER, held="key-conflict"), EMPTY, Verdict.QUARANTINED),
    "posted for other facts, not held": (NO_TRACE._replace(posted=OTHER), EMPTY, Verdict.MISSING),
    "held": (NO_TRACE._replace(held="invalid"), EMPTY, Verdict.QUARANTINED),
    "held, as the offset is not committed yet": (
        NO_TRACE._replace(held="invalid", read=False),
        BOTH,
        Verdict.QUARANTINED,
    ),
    "ignored": (NO_TRACE._replace(ignored=True), EMPTY, Verdict.IGNORED),
    "ignored, not read": (NO_TRACE._replace(ignored=True, read=False), EMPTY, Verdict.IGNORED),
    "not read": (NO_TRACE._replace(read=False), EMPTY, Verdict.IN_FLIGHT),
    "not read for long": (NO_TRACE._replace(read=False, overdue=True), EMPTY, Verdict.IN_FLIGHT),
    "sent just now": (NO_TRACE._replace(settled=False), EMPTY, Verdict.IN_FLIGHT),
    "nowhere": (NO_TRACE, EMPTY, Verdict.MISSING),
    "on the award queue": (NO_TRACE, AWARDS, Verdict.IN_FLIGHT),
    "on the retry queue": (NO_TRACE, RETRIES, Verdict.IN_RETRY),
    "on either": (NO_TRACE, BOTH, Verdict.IN_FLIGHT),
    "a dead letter": (NO_TRACE, LETTERS, Verdict.DEAD_LETTER),
    "on any": (NO_TRACE, ALL, Verdict.IN_FLIGHT),
    "overdue": (NO_TRACE._replace(overdue=True), BOTH, Verdict.MISSING),
    "overdue, perhaps a dead letter": (NO_TRACE._replace(overdue=True), ALL, Verdict.DEAD_LETTER),
}


@pytest.mark.parametrize(("facts", "queues", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_what_became_of_a_message(facts: Facts, queues: Queues, expected: Verdict) -> None:
    assert verdict_of(facts, queues) is expected


QUEUED = Ask(queued=True, posted=None, doubled=False, rejected=False, held=None, settled=True, overdue=False)

ASKS: dict[str, tuple[Ask, Queues, Verdict]] = {
    "posted": (QUEUED._replace(posted=SAME), EMPTY, Verdict.AWARDED),
    "posted, though the register does not know that it was sent": (
        QUEUED._replace(posted=SAME, queued=False),
        EMPTY,
        Verdict.AWARDED,
    ),
    "posted twice": (QUEUED._replace(posted=SAME, doubled=True), EMPTY, Verdict.DOUBLED),
    "rejected": (QUEUED._replace(rejected=True), EMPTY, Verdict.REJECTED),
    "held": (QUEUED._replace(held="unknown-tier"), EMPTY, Verdict.QUARANTINED),
    "posted for other facts, held": (QUEUED._replace(posted=OTHER, held="key-conflict"), EMPTY, Verdict.QUARANTINED),
    "never sent": (QUEUED._replace(queued=False), ALL, Verdict.NOT_ACCEPTED),
    "sent just now": (QUEUED._replace(settled=False), EMPTY, Verdict.IN_FLIGHT),
    "on the award queue": (QUEUED, AWARDS, Verdict.IN_FLIGHT),
    "to be computed": (QUEUED, RETRIES, Verdict.IN_RETRY),
    "a dead letter": (QUEUED, LETTERS, Verdict.DEAD_LETTER),
    "nowhere": (QUEUED, EMPTY, Verdict.MISSING),
    "overdue": (QUEUED._replace(overdue=True), BOTH, Verdict.MISSING),
}


@pytest.mark.parametrize(("ask", "queues", "expected"), ASKS.values(), ids=ASKS)
def test_the_verdict_on_an_award_of_a_partner(ask: Ask, queues: Queues, expected: Verdict) -> None:
    assert verdict_of_ask(ask, queues) is expected

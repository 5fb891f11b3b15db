"""The awarder: envelopes from the award queue are posted to the ledger."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.ledger.award import Award, decode_envelope, encode_award
from abacus.ledger.batch import LedgerPort, Outcome, Status, Unpostable
from abacus.metrics import AWARDS, POINTS, POSTING_AWARDS, POSTING_SECONDS, TIME_TO_POINTS
from abacus.quarantine.item import AWARD_QUEUE, Item, Stage
from abacus.quarantine.store import QuarantinePort
from abacus.queues.port import Received

MOST_AWARDS: Final = 1000


class Awarder:
    """Handles messages of the award queue: all their awards in one transaction, the bad ones set aside one by one."""

    def __init__(self, ledger: LedgerPort, quarantine: QuarantinePort, clock: Clock) -> None:
        self._ledger = ledger
        self._quarantine = quarantine
        self._clock = clock

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        awards: list[Award] = []
        bad: list[Item] = []
        for envelope in received:
            try:
                good, broken = decode_envelope(envelope.body)
            except SetAside as fault:
                bad.append(Item.of(Stage.ENVELOPE, AWARD_QUEUE, envelope.body.encode(), fault))
                continue
            awards += good
            bad += [Item.of(Stage.AWARD, AWARD_QUEUE, item.body, item.fault) for item in broken]
        for start in range(0, len(awards), MOST_AWARDS):
            outcomes = await self._post(awards[start : start + MOST_AWARDS])
            bad += [item for outcome in outcomes if (item := _set_aside(outcome)) is not None]
        await self._quarantine.add(bad)
        return received

    async def _post(self, awards: Sequence[Award]) -> list[Outcome]:
        """Post them together; when the store refuses a value, find the award it is in by halving."""
        started = time.perf_counter()
        try:
            outcomes = await self._ledger.post(awards)
        except Unpostable as error:
            if len(awards) == 1:
                fault = SetAside(Reason.UNPOSTABLE, str(error))
                return [Outcome(awards[0], Status.REFUSED, fault=fault)]
            middle = len(awards) // 2
            return await self._post(awards[:middle]) + await self._post(awards[middle:])
        POSTING_SECONDS.observe(time.perf_counter() - started)
        POSTING_AWARDS.observe(len(awards))
        self._count(outcomes)
        return outcomes

    def _count(self, outcomes: Sequence[Outcome]) -> None:
        now = self._clock.now()
        decided = Counter((outcome.award.key.partition(":")[0], str(outcome.status)) for outcome in outcomes)
        for (source, status), count in decided.items():
            AWARDS.labels(source, status).inc(count)
        for outcome in outcomes:
            if outcome.status is Status.POSTED:
                POINTS.labels(outcome.award.program).inc(outcome.award.points)
                TIME_TO_POINTS.observe((now - outcome.award.occurred_at).total_seconds())


def _set_aside(outcome: Outcome) -> Item | None:
    if outcome.status is Status.CONFLICT and outcome.claim is not None:
        claim = outcome.claim
        where = f"{claim.member_id}, {claim.program}, seq {claim.seq}"
        return _contradicting(outcome.award, f"is posted for other facts: {where}", claim.fingerprint)
    if outcome.status is Status.CONFLICT and outcome.rejection is not None:
        return _contradicting(outcome.award, "was rejected for other facts", outcome.rejection.fingerprint)
    if outcome.fault is not None:
        return _item(outcome.award, outcome.fault)
    return None


def _contradicting(award: Award, what: str, posted_fingerprint: str) -> Item:
    item = _item(award, SetAside(Reason.KEY_CONFLICT, f"{award.key} {what}"))
    return replace(item, posted_fingerprint=posted_fingerprint)


def _item(award: Award, fault: SetAside) -> Item:
    item = Item.of(Stage.AWARD, f"award:{award.key}", encode_award(award), fault)
    return replace(item, key=award.key, fingerprint=award.fingerprint)

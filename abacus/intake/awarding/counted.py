"""A ledger and its moves, whose outcomes are counted: in metrics, and in the tally of posted points."""

import time
from collections import Counter
from collections.abc import Sequence

from abacus.core.clock import Clock
from abacus.intake.awarding.metrics import AWARDS, POINTS, POSTING_AWARDS, POSTING_SECONDS, TIME_TO_POINTS
from abacus.intake.pulse.tally import Tally
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Moved, Movement, MovesPort
from abacus.ledger.types.port import AwardOutcome, LedgerPort, SliceAway, Status


class CountedLedger:
    """`LedgerPort` that counts what the ledger within decides."""

    def __init__(self, ledger: LedgerPort, clock: Clock, tally: Tally) -> None:
        self._ledger = ledger
        self._clock = clock
        self._tally = tally

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        started = time.perf_counter()
        try:
            outcomes = await self._ledger.post(awards)
        except SliceAway:
            self._count([AwardOutcome(award, Status.WAITS) for award in awards], started)
            raise
        self._count(outcomes, started)
        posted = (each.award for each in outcomes if each.status is Status.POSTED)
        self._tally.posted(posted, self._clock.now())
        return outcomes

    def _count(self, outcomes: Sequence[AwardOutcome], started: float) -> None:
        POSTING_SECONDS.observe(time.perf_counter() - started)
        POSTING_AWARDS.observe(len(outcomes))
        now = self._clock.now()
        decided: Counter[tuple[str, Status]] = Counter()
        points: Counter[str] = Counter()
        waited: list[float] = []
        for outcome in outcomes:
            award, status = outcome.award, outcome.status
            decided[award.key.partition(":")[0], status] += 1
            if status is Status.POSTED:
                points[award.program] += award.points
                waited.append((now - award.occurred_at).total_seconds())
        for (source, status), count in decided.items():
            AWARDS.labels(source, str(status)).inc(count)
        for program, awarded in points.items():
            POINTS.labels(program).inc(awarded)
        TIME_TO_POINTS.observe_all(waited)


class CountedRefunds:
    """`MovesPort` that counts the reversals of refunds."""

    def __init__(self, moves: MovesPort) -> None:
        self._moves = moves

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        try:
            moved = await self._moves.move(movements)
        except SliceAway:
            AWARDS.labels("refund", str(Status.WAITS)).inc(len(movements))
            raise
        for status, count in Counter(str(each.status) for each in moved).items():
            AWARDS.labels("refund", status).inc(count)
        return moved

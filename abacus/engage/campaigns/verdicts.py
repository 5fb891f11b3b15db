"""What comes of events for the campaigns that may answer to them: events just read, and events of the retry queue."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from abacus.core.errors import SetAside
from abacus.engage.campaigns.decide.deferred import Deferred
from abacus.engage.campaigns.decide.run import Run
from abacus.engage.campaigns.effects import Decisions, Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator, Candidate, Evaluation, item_of
from abacus.engage.campaigns.metrics import CAMPAIGN_RUNS
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.seen import without_contradictions
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.signals.events.types import Event


class Reached(NamedTuple):
    """What came of events, the items that were set aside, and the candidates that were put off."""

    runs: Sequence[Run]
    aside: Sequence[Item]
    later: Sequence[Candidate]


class Verdicts:
    """Decides events for campaigns."""

    def __init__(
        self,
        evaluator: CampaignEvaluator,
        effects: Effects,
        retry_queue: RetryQueue,
        quarantine: QuarantinePort,
        pool: Pool,
    ) -> None:
        self._pool = pool
        self._evaluator = evaluator
        self._effects = effects
        self._retries = retry_queue
        self._quarantine = quarantine

    async def reach(
        self,
        events: Sequence[Event],
        answering: Sequence[Candidate],
        before: Mapping[tuple[str, str], Deferred] | None = None,
    ) -> Reached:
        """Returns when everything is durable that comes of these events. `answering` has the events that campaigns may
        answer to. `before` is as for `RetryQueue.put`. Raises `Unavailable`.
        """
        candidates = await without_contradictions(self._pool, events, answering)
        evaluation = await self._evaluator.evaluate(candidates)
        decided = await self._effects.decide(evaluation.matched)
        aside, later = set_aside(candidates, decided), put_off(candidates, evaluation, decided)
        await self._quarantine.add(aside)
        await self._retries.put(later, before)
        for run in decided.runs:
            CAMPAIGN_RUNS.labels(run.outcome.value).inc()
        return Reached(decided.runs, aside, later)


def put_off(candidates: Iterable[Candidate], evaluation: Evaluation, decided: Decisions) -> list[Candidate]:
    """The candidates that could not be judged or decided now, in their order."""
    late = {(each.key, each.subject.member_id) for each in evaluation.later}
    late |= {(each.key, each.member_id) for each in decided.waiting}
    return [each for each in candidates if (each.key, each.subject.member_id) in late] if late else []


def set_aside(candidates: Iterable[Candidate], decided: Decisions) -> list[Item]:
    """The candidates that would be decided, but for a fault."""
    faults: dict[tuple[str, str], SetAside] = {
        (each.key, each.member_id): each.fault for each in decided.faulty if each.fault is not None
    }
    return [
        item_of(each.origin, each.body, each.armed.campaign, faults[each.key, each.subject.member_id])
        for each in (candidates if faults else ())
        if (each.key, each.subject.member_id) in faults
    ]

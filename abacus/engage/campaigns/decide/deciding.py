"""What comes of events that campaigns answer to: counts, steps and limits, in the order of the events. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from abacus.engage.campaigns.decide.budget import Pot, Pots, Short, pots_of
from abacus.engage.campaigns.decide.campaign import CONTROL, Step
from abacus.engage.campaigns.decide.limits import Amounts
from abacus.engage.campaigns.decide.progress import (
    NONE,
    WHOLE,
    Place,
    Progress,
    count_place,
    counted,
    used_places,
)
from abacus.engage.campaigns.decide.run import Matched, Outcome, Refusal, Run
from abacus.engage.campaigns.decide.split import arm_of


@dataclass(slots=True)
class Decided:
    """The runs, the progress that changed, and what was taken from each pot."""

    runs: list[Run] = field(default_factory=list)
    progress: dict[Place, Progress] = field(default_factory=dict)
    taken: Mapping[Pot, Amounts] = field(default_factory=dict)


def decide(
    matched: Iterable[Matched],
    progress: Mapping[Place, Progress],
    left: Mapping[Pot, Amounts],
    complete: Collection[Pot],
) -> Decided:
    """Decides events that were never decided before. `left` has what is at hand of each pot. Of those in `complete`
    there is no more, and what is too much is refused; raises `Short` when it is not enough of another.
    """
    deciding = _Deciding(progress, Pots(left, complete))
    for each in matched:
        deciding.decide(each)
    if needs := deciding.pots.needs():
        raise Short(needs)
    return Decided(deciding.runs, deciding.changed, deciding.pots.taken)


class _Deciding:
    def __init__(self, progress: Mapping[Place, Progress], pots: Pots) -> None:
        self._progress = progress
        self.pots = pots
        self.runs: list[Run] = []
        self.changed: dict[Place, Progress] = {}

    def decide(self, matched: Matched) -> None:
        campaign = matched.campaign
        variant = arm_of(campaign, matched.member_id)
        count = self._count(matched, variant)
        steps = [step for step in campaign.steps if step.fits(count or 1, variant)]
        if variant == CONTROL or not steps:
            outcome = Outcome.CONTROL if variant == CONTROL else Outcome.COUNTED
            self.runs.append(Run(matched, outcome, count, variant))
            return
        amounts = _amounts(matched, steps)
        refusal = self._refusal(matched, amounts)
        if refusal is not None:
            self.runs.append(Run(matched, Outcome.REFUSED, count, variant, refusal=refusal))
            return
        self.pots.take(pots_of(matched), amounts)
        for place in used_places(campaign, matched.member_id, matched.event.occurred_at).values():
            self.changed[place] = self._of(place).given(amounts)
        self.runs.append(Run(matched, Outcome.DONE, count, variant, tuple(each.number for each in steps), amounts))

    def _count(self, matched: Matched, variant: str | None) -> int | None:
        """Which event of the member this is, where that matters. In a split the member is noted in any case."""
        campaign, at = matched.campaign, matched.event.occurred_at
        whole, of_count = Place(matched.member_id, campaign.name, WHOLE), None
        count = None
        if campaign.counts:
            of_count = count_place(campaign, matched.member_id, at)
            count, self.changed[of_count] = counted(campaign, self._of(of_count), at)
        if campaign.split:
            progress = self._of(whole)
            more = 0 if of_count == whole else 1
            self.changed[whole] = progress._replace(events=progress.events + more, variant=variant)
        return count

    def _refusal(self, matched: Matched, amounts: Amounts) -> Refusal | None:
        """The limit that stands against the run."""
        campaign = matched.campaign
        for scope, place in used_places(campaign, matched.member_id, matched.event.occurred_at).items():
            what = campaign.limits.of(scope).short_of(self._of(place).used, amounts)
            if what is not None:
                return Refusal(scope, what)
        if lacking := self.pots.lacking(pots_of(matched), amounts):
            pot, what = lacking
            return Refusal(pot.scope, what)
        return None

    def _of(self, place: Place) -> Progress:
        return self.changed.get(place) or self._progress.get(place, NONE)


def _amounts(matched: Matched, steps: Iterable[Step]) -> Amounts:
    points = sum(matched.worth[step.number].points for step in steps if step.number in matched.worth)
    return Amounts(1, points, matched.campaign.limits.cost_of(points))

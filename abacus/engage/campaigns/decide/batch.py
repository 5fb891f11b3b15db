"""What comes of events that campaigns answer to: counts, steps and limits, in the order of the events. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from abacus.engage.campaigns.decide.campaign import CONTROL, Step
from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.progress import (
    NONE,
    WHOLE,
    Progress,
    ProgressPlace,
    asked_place,
    count_place,
    counted,
    places_of,
    told,
    used_places,
)
from abacus.engage.campaigns.decide.run import Matched, Refusal, Run, RunOutcome, arm_of
from abacus.engage.limits.decide.pots import AtHand, Pot, Short, pots_of
from abacus.engage.limits.types import Amounts
from abacus.signals.events.types import Event


@dataclass(slots=True)
class Decided:
    """The runs, the progress that changed, and what was taken from each pot. `waiting` events wait
    for a campaign of their exclusive group; neither they nor `faulty` events are decided.
    """

    runs: list[Run] = field(default_factory=list)
    progress: dict[ProgressPlace, Progress] = field(default_factory=dict)
    taken: Mapping[Pot, Amounts] = field(default_factory=dict)
    waiting: list[Matched] = field(default_factory=list)
    faulty: list[Matched] = field(default_factory=list)


def decide(
    matched: Iterable[Matched],
    progress: Mapping[ProgressPlace, Progress],
    left: Mapping[Pot, Amounts],
    complete: Collection[Pot],
    claimed: Collection[str] = (),
) -> Decided:
    """Decides events in their order. An event whose key is `claimed` was decided before, together with its exclusive
    group. Campaigns of a group stand in the order of their priority. `left` has what is at hand of each pot. A pot in
    `complete` has no more, and what is too much is refused; raises `Short` when another pot has not enough.
    """
    batch = _Batch(progress, AtHand(left, complete))
    for group in _groups(matched):
        if not any(each.key in claimed for each in group):
            batch.decide(group)
    if needs := batch.at_hand.needs():
        raise Short(needs)
    return Decided(batch.runs, batch.changed, batch.at_hand.taken, batch.waiting, batch.faulty)


def _groups(matched: Iterable[Matched]) -> Iterable[Sequence[Matched]]:
    """The campaigns of each exclusive group that answer to one event; the others are alone."""
    groups: dict[tuple[str, bool, str], list[Matched]] = {}
    for each in matched:
        group = each.campaign.exclusive
        place = each.event.key, group is not None, each.campaign.name if group is None else group
        groups.setdefault(place, []).append(each)
    return groups.values()


class _Batch:
    def __init__(self, progress: Mapping[ProgressPlace, Progress], at_hand: AtHand) -> None:
        self._progress = progress
        self.at_hand = at_hand
        self.runs: list[Run] = []
        self.changed: dict[ProgressPlace, Progress] = {}
        self.waiting: list[Matched] = []
        self.faulty: list[Matched] = []

    def decide(self, group: Sequence[Matched]) -> None:
        """The first campaign whose conditions hold gets the event, and the next if a limit stands against that. Where
        that would be a campaign that waits, the refused campaigns wait with it: all are decided together, or none.
        """
        runs, before = len(self.runs), self._before(group) if any(each.waits for each in group) else {}
        refused: list[Matched] = []
        for place, each in enumerate(group):
            if each.waits:
                self._take_back(runs, before)
                self.waiting += [*refused, *group[place:]]
                return
            holding = self._holding(each)
            if holding is None:
                continue
            if holding.fault is not None:
                self.faulty.append(holding)
                return
            self._run(holding)
            if self.runs[-1].outcome is not RunOutcome.REFUSED:
                return
            refused.append(each)

    def _holding(self, matched: Matched) -> Matched | None:
        """The event with what was looked at, if the conditions hold now."""
        if matched.open is None:
            return matched
        campaign, member_id, at = matched.campaign, matched.member_id, matched.event.occurred_at
        decision = matched.open.decide(
            matched.event, lambda side: told(self._of(asked_place(campaign, member_id, at, side)), side)
        )
        return replace(matched, conditions=conditions_of(decision.looked), open=None) if decision.holds else None

    def _before(self, group: Iterable[Matched]) -> Mapping[ProgressPlace, Progress | None]:
        """The changes so far of the progress that a group may change."""
        return {
            place: self.changed.get(place)
            for each in group
            for place in places_of(each.campaign, each.member_id, each.event.occurred_at)
        }

    def _take_back(self, runs: int, before: Mapping[ProgressPlace, Progress | None]) -> None:
        """What was refused was only counted."""
        del self.runs[runs:]
        for place, progress in before.items():
            self.changed.pop(place, None)
            if progress is not None:
                self.changed[place] = progress

    def _run(self, matched: Matched) -> None:
        campaign = matched.campaign
        variant = arm_of(campaign, matched.member_id)
        count = self._count(matched, variant)
        steps = [step for step in campaign.steps if step.fits(count or 1, variant)]
        if variant == CONTROL or matched.held_out or not steps:
            self.runs.append(Run(matched, _undone(matched, variant), count, variant))
            return
        amounts = _amounts(matched, steps)
        refusal = self._refusal(matched, amounts)
        if refusal is not None:
            self.runs.append(Run(matched, RunOutcome.REFUSED, count, variant, refusal=refusal))
            return
        self.at_hand.take(pots_of(campaign, matched.event.occurred_at), amounts)
        for place in used_places(campaign, matched.member_id, matched.event.occurred_at).values():
            self.changed[place] = self._of(place).given(amounts)
        self.runs.append(Run(matched, RunOutcome.DONE, count, variant, tuple(each.number for each in steps), amounts))

    def _count(self, matched: Matched, variant: str | None) -> int | None:
        """Which event of the member this is, where that matters. In a split the member is noted in any case."""
        campaign, at = matched.campaign, matched.event.occurred_at
        whole, of_count = ProgressPlace(matched.member_id, campaign.name, WHOLE), None
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
        if lacking := self.at_hand.lacking(pots_of(campaign, matched.event.occurred_at), amounts):
            pot, what = lacking
            return Refusal(pot.scope, what)
        return None

    def _of(self, place: ProgressPlace) -> Progress:
        return self.changed.get(place) or self._progress.get(place, NONE)


def _undone(matched: Matched, variant: str | None) -> RunOutcome:
    """Why nothing is done."""
    if variant == CONTROL:
        return RunOutcome.CONTROL
    return RunOutcome.HOLDOUT if matched.held_out else RunOutcome.COUNTED


def _amounts(matched: Matched, steps: Iterable[Step]) -> Amounts:
    points = sum(matched.worth[step.number].points for step in steps if step.number in matched.worth)
    return Amounts(1, points, matched.campaign.limits.cost_of(points))


def contradictions(events: Iterable[Event]) -> Mapping[str, Sequence[Event]]:
    """The keys with which events came that are not equal, each with those events in the order in which they came."""
    firsts: dict[str, Event] = {}
    found: dict[str, list[Event]] = {}
    for event in events:
        key = event.key
        first = firsts.setdefault(key, event)
        if first is not event and event not in (some := found.get(key, [first])):
            found[key] = [*some, event]
    return found

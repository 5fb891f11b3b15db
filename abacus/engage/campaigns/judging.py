"""Which campaigns answer to events: conditions are looked up and decided, and groups exclude each other."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import campaign_key
from abacus.engage.campaigns.decide.actions import Award
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.run import Matched
from abacus.engage.campaigns.decide.running import Armed
from abacus.engage.campaigns.decide.waves import Wanting, waves
from abacus.engage.campaigns.decide.worth import Worth, worth_of
from abacus.engage.campaigns.subject import Subject
from abacus.engage.campaigns.values import Values
from abacus.engage.events.types import Event, Position
from abacus.engage.rules.decide.lazy import Decision
from abacus.engage.rules.rounds import Question, decide_all
from abacus.platform.quarantine.types import Item, Stage
from abacus.pricing.decide.card import BASE_TIER, PublishedCard

_LONGEST_KEY: Final = 390  # of a claim: the number of a step stands behind it, and a key of the ledger has 400


class Candidate(NamedTuple):
    """An event that a campaign may answer to, with the card of the campaign's country. `origin` and `body` are those of
    the message that it came in.
    """

    origin: str
    body: bytes
    event: Event
    armed: Armed
    card: PublishedCard
    position: Position | None = None  # of the message, where a counter may have to come to it first

    @property
    def key(self) -> str:
        """The claim of the event in the campaign."""
        return campaign_key(self.armed.campaign.name, self.event.key)

    @property
    def sent(self) -> tuple[str, str]:
        """Tells it from another event that was sent with its key, and is about another member."""
        return self.event.key, self.event.member_id or ""

    @property
    def subject(self) -> Subject:
        return Subject(self.armed.campaign, self.event.member_id or "", self.card.card.program, self.position)


class Judged(NamedTuple):
    """The campaigns that answer, with their events; the events that one cannot be decided for; and those for which one
    waits, because a value cannot be told now.
    """

    matched: Sequence[Matched]
    aside: Sequence[Item]
    later: Sequence[Candidate]


class Judging:
    """Judges candidates by values that are looked up."""

    def __init__(self, values: Values) -> None:
        self._values = values

    async def judge(self, candidates: Sequence[Candidate]) -> Judged:
        """Of each exclusive group the first by priority answers. Raises `Unavailable`."""
        decisions = await self._decided(candidates)
        undecided = [(each, decision) for each, decision in zip(candidates, decisions, strict=True) if _may(decision)]
        later: list[Candidate] = []
        answering = list(_exclusive(undecided, later))
        tiers = await self._tiers([each for each, _ in answering if each.armed.by_tier])
        matched: list[Matched] = []
        aside: list[Item] = []
        for each, decision in answering:
            tier = tiers.get(each.subject.account) if each.armed.by_tier else BASE_TIER
            if tier is None:
                later.append(each)
                continue
            try:
                worth = worth_of_steps(each, tier)
            except SetAside as fault:
                aside.append(item_of(each.origin, each.body, each.armed.campaign, fault))
                continue
            conditions = conditions_of(decision.looked)
            matched.append(Matched(each.armed.campaign, each.subject.member_id, each.event, conditions, worth))
        return Judged(matched, aside, later)

    async def _decided(self, candidates: Sequence[Candidate]) -> list[Decision]:
        """What memory tells is decided at once; the rest in rounds."""
        decisions: dict[int, Decision] = {}
        questions: dict[int, Question[Subject]] = {}
        for place, each in enumerate(candidates):
            plan = each.armed.plan
            if plan is None:
                decisions[place] = Decision(holds=True, wanted=None, looked=())
            elif each.armed.looks_up:
                questions[place] = Question(each.subject, each.event, plan)
            else:
                decisions[place] = plan.decide(each.event, {})
        answers = await decide_all(list(questions.values()), self._values) if questions else []
        decisions |= dict(zip(questions, answers, strict=True))
        return [decisions[place] for place in range(len(candidates))]

    async def _tiers(self, candidates: Sequence[Candidate]) -> Mapping[tuple[str, str], str]:
        return await self._values.tiers_of({each.subject.account for each in candidates})


def in_waves(candidates: Sequence[Candidate]) -> Sequence[Sequence[Candidate]]:
    """The candidates in the order in which they are to be judged: each wave once what came of the wave before is
    durable, because it may ask for that.
    """
    numbers = waves(
        [
            Wanting(id(each.event), each.subject.member_id, each.armed.campaign.name if each.armed.looks_back else None)
            for each in candidates
        ]
    )
    if not any(numbers):
        return [candidates] if candidates else []
    found: list[list[Candidate]] = [[] for _ in range(max(numbers) + 1)]
    for number, candidate in zip(numbers, candidates, strict=True):
        found[number].append(candidate)
    return found


def worth_of_steps(candidate: Candidate, tier: str) -> Mapping[int, Worth]:
    """The points of each step that awards any. Raises `SetAside`."""
    if len(candidate.key) > _LONGEST_KEY:
        raise SetAside(Reason.INVALID, f"its key has {len(candidate.key)} characters, and {_LONGEST_KEY} are room for")
    return {
        step.number: worth_of(action.deed, candidate.event, candidate.card, tier)
        for step in candidate.armed.campaign.steps
        for action in step.actions
        if isinstance(action.deed, Award)
    }


def item_of(origin: str, body: bytes, campaign: Campaign, fault: SetAside) -> Item:
    """An event that a campaign cannot be decided for. The same event and campaign make the same item."""
    detail = f"{campaign.label}: {fault.detail}"
    return Item.of(Stage.CAMPAIGN, f"{origin}#{campaign.name}", body, SetAside(fault.reason, detail))


def _may(decision: Decision) -> bool:
    """Whether the campaign answers, or may do so once a value can be told."""
    return decision.holds is not False


def _exclusive(
    candidates: Sequence[tuple[Candidate, Decision]], later: list[Candidate]
) -> Iterator[tuple[Candidate, Decision]]:
    """Of the campaigns of a group that answer to one event, the one with the highest priority; of equals, the first by
    name. Those that are decided later go to `later`, and with one of a group all of the group that come behind it.
    """
    for _, of_event in groupby(candidates, key=lambda each: id(each[0].event)):
        taken: set[str] = set()
        waiting: set[str] = set()
        for candidate, decision in sorted(of_event, key=_order):
            group = candidate.armed.campaign.exclusive
            if group is not None and group in taken:
                continue
            if decision.holds is None or (group is not None and group in waiting):
                later.append(candidate)
                if group is not None:
                    waiting.add(group)
                continue
            yield candidate, decision
            if group is not None:
                taken.add(group)


def _order(each: tuple[Candidate, Decision]) -> tuple[int, str]:
    campaign = each[0].armed.campaign
    return -campaign.priority, campaign.name

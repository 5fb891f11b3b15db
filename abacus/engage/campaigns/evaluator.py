"""Which campaigns answer to events: conditions are looked up and decided, as far as they can be beforehand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import campaign_key
from abacus.engage.actions.decide.deeds import Award
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import Armed
from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.run import Matched, Open
from abacus.engage.campaigns.decide.worth import Worth, worth_of
from abacus.engage.campaigns.facts import CampaignSubject
from abacus.platform.quarantine.types import Item, Stage
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision

_LONGEST_KEY: Final = 390  # of a claim: the number of a step stands behind it, and a key of the ledger has 400


class Candidate(NamedTuple):
    """An event that a campaign may answer to, with the `origin` and `body` of its message, and the card of the
    campaign's country.
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
        """The event's key and member: another event may be sent with its key, about another member."""
        return self.event.key, self.event.member_id or ""

    @property
    def subject(self) -> CampaignSubject:
        program = self.card.card.program
        return CampaignSubject(self.armed.campaign, self.event.member_id or "", self.event, program, self.position)


class Evaluation(NamedTuple):
    """The campaigns that answer, or may answer, with their events, in the order of the events and of the campaigns'
    priority; and the events for which a campaign waits, because a value cannot be told now.
    """

    matched: Sequence[Matched]
    later: Sequence[Candidate]


class CampaignEvaluator:
    """Decides which campaigns answer, by values that are looked up."""

    def __init__(self, facts: FactRegistry[CampaignSubject], members: MemberFacts) -> None:
        self._facts = facts
        self._members = members

    async def evaluate(self, candidates: Sequence[Candidate]) -> Evaluation:
        """What depends on events of the member before is left open, to be decided with them. Raises `Unavailable`."""
        decisions = await self._decided(candidates)
        judged = [each for each in zip(candidates, decisions, strict=True) if each[1].holds is not False]
        tiers = await self._tiers([each for each, _ in judged if each.armed.by_tier])
        matched: list[Matched] = []
        later: list[Candidate] = []
        for each, decision in in_order(judged):
            tier = tiers.get(each.subject.account) if each.armed.by_tier else BASE_TIER
            waits = tier is None or decision.wanted is not None
            if waits and each.armed.campaign.exclusive is None:
                later.append(each)
            elif tier is None or waits:
                matched.append(Matched(each.armed.campaign, each.subject.member_id, each.event, waits=True))
            else:
                matched.append(matched_by(each, decision, tier))
        return Evaluation(matched, later)

    async def _decided(self, candidates: Sequence[Candidate]) -> list[Decision]:
        """What memory tells is decided at once; the rest in rounds."""
        decisions: dict[int, Decision] = {}
        questions: dict[int, Question[CampaignSubject]] = {}
        before: set[tuple[str, str]] = set()  # members with a campaign that asks what they have had of it
        for place, each in enumerate(candidates):
            plan, subject = each.armed.plan, each.subject
            if plan is None:
                decisions[place] = Decision(holds=True, wanted=None, looked=())
            elif each.armed.looks_up:
                pair = subject.member_id, subject.campaign.name
                questions[place] = Question(subject._replace(follows=pair in before), plan)
                before |= {pair} if each.armed.looks_back else set()
            else:
                decisions[place] = plan.decide(each.event, {})
        answers = await decide_all(list(questions.values()), self._facts) if questions else []
        decisions |= dict(zip(questions, answers, strict=True))
        return [decisions[place] for place in range(len(candidates))]

    async def _tiers(self, candidates: Sequence[Candidate]) -> Mapping[tuple[str, str], str]:
        return await self._members.tiers_of({each.subject.account for each in candidates})


def matched_by(candidate: Candidate, decision: Decision, tier: str) -> Matched:
    """The event with what was looked at, and with the points of its steps or their fault."""
    campaign, plan = candidate.armed.campaign, candidate.armed.plan
    risen = plan is not None and any(isinstance(value, AtLeast) for value in decision.looked_up.values())
    matched = Matched(
        campaign,
        candidate.subject.member_id,
        candidate.event,
        conditions_of(decision.looked),
        held_out=candidate.armed.holds_out(candidate.subject.member_id),
        open=Open(plan, decision.looked_up) if plan is not None and risen else None,
    )
    try:
        return replace(matched, worth=worth_of_steps(campaign, candidate.event, candidate.card, tier))
    except SetAside as fault:
        return replace(matched, fault=fault)


def worth_of_steps(campaign: Campaign, event: Event, card: PublishedCard, tier: str) -> Mapping[int, Worth]:
    """The points of each step that awards any. Raises `SetAside`."""
    if (length := len(campaign_key(campaign.name, event.key))) > _LONGEST_KEY:
        raise SetAside(Reason.INVALID, f"its key has {length} characters, and {_LONGEST_KEY} are room for")
    return {
        step.number: worth_of(action.deed, event, card, tier)
        for step in campaign.steps
        for action in step.actions
        if isinstance(action.deed, Award)
    }


def item_of(origin: str, body: bytes, campaign: Campaign, fault: SetAside) -> Item:
    """An event that a campaign cannot be decided for. The same event and campaign make the same item."""
    detail = f"{campaign.label}: {fault.detail}"
    return Item.of(Stage.CAMPAIGN, f"{origin}#{campaign.name}", body, SetAside(fault.reason, detail))


def in_order(judged: Sequence[tuple[Candidate, Decision]]) -> Iterator[tuple[Candidate, Decision]]:
    """The campaigns of each event by priority, the highest first; of equals, the first by name."""
    for _, of_event in groupby(judged, key=lambda each: each[0].sent):
        yield from sorted(of_event, key=_priority)


def _priority(each: tuple[Candidate, Decision]) -> tuple[int, str]:
    campaign = each[0].armed.campaign
    return -campaign.priority, campaign.name

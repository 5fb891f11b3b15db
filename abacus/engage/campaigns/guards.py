"""The guards of the actions of campaigns: what still has to hold, or must not, when their time has come."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import Refused, SetAside
from abacus.core.fields import DocumentFaults
from abacus.engage.actions.decide.deeds import Action
from abacus.engage.actions.types import DueAction, Refusals
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.vocabulary import of_campaign
from abacus.engage.campaigns.facts import CampaignSubject
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.event_reader import own_reader
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.plan import RulePlan

UNLESS: Final = "unless"
IF_STILL: Final = "if_still"


# The version of a campaign. Raises `Unavailable`.
CampaignOf: TypeAlias = Callable[[str, int], Awaitable[Campaign]]


class _Guarded(NamedTuple):
    """A rule of a guard, for an action."""

    action: DueAction
    name: str
    question: Question[CampaignSubject]


class CampaignGuards:
    """Looks at the guards of the actions of campaigns."""

    def __init__(
        self,
        campaign_of: CampaignOf,
        around: Callable[[], Publications],
        facts: FactRegistry[CampaignSubject],
        cards: Callable[[], CardBook],
        clock: Clock,
    ) -> None:
        self._campaign_of = campaign_of
        self._around = around
        self._facts = facts
        self._cards = cards
        self._clock = clock
        self._plans: dict[tuple[str, int, int, int, str], tuple[Publications, RulePlan]] = {}

    async def refusals(self, actions: Sequence[DueAction]) -> Refusals:
        """Looks at the guards of the actions that have any. Raises `Unavailable`."""
        asked: list[_Guarded] = []
        refused: dict[DueAction, str] = {}
        for each in actions:
            if each.event is not None:
                try:
                    asked += await self._asked(each, each.event)
                except (SetAside, DocumentFaults, Refused) as fault:
                    refused[each] = f"its guard cannot be looked at any more: {fault}"
        decisions = await decide_all([each.question for each in asked], self._facts) if asked else []
        unknown: set[DueAction] = set()
        for (action, name, _), decision in zip(asked, decisions, strict=True):
            if decision.holds is None:
                unknown.add(action)
            elif decision.holds is (name == UNLESS):
                refused.setdefault(action, name)
        return Refusals(refused, unknown - refused.keys())

    async def _asked(self, waiting: DueAction, message: bytes) -> list[_Guarded]:
        """Raises `SetAside`, `DocumentFaults` and `Refused`."""
        campaign, around = await self._campaign_of(waiting.owner, waiting.version), self._around()
        event = own_reader(around.sources.values()).read(message, self._clock.now())
        if event is None:
            raise Refused("its event is of no source any more")
        card = self._cards().in_force(campaign.country, event.occurred_at)
        now = event._replace(occurred_at=self._clock.now())
        subject = CampaignSubject(campaign, waiting.member_id, now, card.card.program)
        return [
            _Guarded(waiting, name, Question(subject, plan)) for name, plan in self._plans_of(campaign, waiting, around)
        ]

    def _plans_of(self, campaign: Campaign, waiting: DueAction, around: Publications) -> list[tuple[str, RulePlan]]:
        action = _action(campaign, waiting)
        plans = []
        for name, rule in ((UNLESS, action.unless), (IF_STILL, action.if_still)):
            if rule is None:
                continue
            place = (campaign.name, campaign.version, waiting.step, waiting.number, name)
            known = self._plans.get(place)
            if known is None or known[0] is not around:
                resolve = of_campaign(Vocabulary(campaign.on, around.sources), around)
                known = self._plans[place] = around, RulePlan(parse_rule(rule, resolve))
            plans.append((name, known[1]))
        return plans


def _action(campaign: Campaign, waiting: DueAction) -> Action:
    step = next(step for step in campaign.steps if step.number == waiting.step)
    return step.actions[waiting.number]

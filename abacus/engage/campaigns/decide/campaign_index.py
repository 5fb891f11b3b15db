"""The campaigns that run, found for an event by an index. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.decide.heading import runs_at
from abacus.engage.actions.decide.deeds import Award
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.vocabulary import CAMPAIGN, of_campaign
from abacus.engage.campaigns.decide.worth import needs_tier
from abacus.engage.notify.decide.contact_policy import is_held_out
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.events.types import Event
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.index import RuleIndex
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import Rule


class Armed(NamedTuple):
    """A campaign that runs. `plan` is of its whole rule; `looks_up` says whether that needs more than the event,
    `looks_back` whether it needs what the member had of the campaign, and `by_tier` whether its points need the tier.
    `holdout` is the share of members, in hundredths, who get nothing.
    """

    campaign: Campaign
    plan: RulePlan | None
    looks_up: bool
    looks_back: bool
    by_tier: bool
    holdout: int = 0

    def holds_out(self, member_id: str) -> bool:
        return is_held_out(self.campaign.country, member_id, self.holdout)


class _Shelf:
    """The campaigns of one country for one type of event."""

    def __init__(self) -> None:
        self.index = RuleIndex()
        self.armed: list[Armed | None] = []
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []

    def put(self, armed: Armed, rule: Rule | None) -> None:
        number = self._numbers.get(armed.campaign.name)
        if number is None:
            number = self._free.pop() if self._free else len(self.armed)
            self._numbers[armed.campaign.name] = number
        if number == len(self.armed):
            self.armed.append(None)
        self.armed[number] = armed
        self.index.put(number, rule)

    def remove(self, name: str) -> None:
        number = self._numbers.pop(name)
        self.index.remove(number)
        self.armed[number] = None
        self._free.append(number)

    def answering(self, event: Event) -> list[Armed]:
        found = (self.armed[number] for number in self.index.may_hold(event))
        return [armed for armed in found if armed is not None and runs_at(armed.campaign, event.occurred_at)]


class CampaignIndex:
    """The campaigns in force. Each is compiled once, and a change costs as much as the campaigns that it is about."""

    def __init__(self) -> None:
        self._campaigns: dict[str, tuple[Campaign, Publications]] = {}
        self._shelves: dict[EventType, dict[str, _Shelf]] = {}
        self.misfits: dict[str, tuple[Fault, ...]] = {}

    def __len__(self) -> int:
        return len(self._campaigns) - len(self.misfits)

    def put(self, campaigns: Iterable[Campaign], around: Publications) -> None:
        """From now on these run, and no others. Where something else is published, each is compiled anew."""
        now = {campaign.name: campaign for campaign in campaigns}
        for name, (campaign, known) in list(self._campaigns.items()):
            if now.get(name) is not campaign or known is not around:
                self._remove(campaign)
        for name, campaign in now.items():
            if name not in self._campaigns:
                self._add(campaign, around)

    def bounded(self) -> list[Campaign]:
        """The campaigns with a limit over their whole life."""
        return [campaign for campaign, _ in self._campaigns.values() if not campaign.limits.overall.open]

    def types(self) -> Mapping[str, set[str]]:
        """The types of events that some campaign answers to, by source."""
        types: dict[str, set[str]] = {}
        for source, type_ in self._shelves:
            types.setdefault(source, set()).add(type_)
        return types

    def since(self) -> Mapping[str, Mapping[str, datetime]]:
        """The types of events that some campaign answers to, by source, and since when."""
        since: dict[str, dict[str, datetime]] = {}
        for campaign, _ in self._campaigns.values():
            for source, type_ in campaign.on:
                begins = max(campaign.starts_at, campaign.approved_at)
                of_source = since.setdefault(source, {})
                of_source[type_] = min(begins, of_source.get(type_, begins))
        return since

    def answering(self, event: Event) -> list[Armed]:
        """The campaigns whose conditions hold as far as the event tells, of the event's country where it has one."""
        shelves = self._shelves.get((event.source, event.type))
        if shelves is None or event.member_id is None:
            return []
        if event.country is not None:
            shelf = shelves.get(event.country)
            return shelf.answering(event) if shelf is not None else []
        return [armed for shelf in shelves.values() for armed in shelf.answering(event)]

    def _add(self, campaign: Campaign, around: Publications) -> None:
        self._campaigns[campaign.name] = campaign, around
        try:
            armed, rule = compiled(campaign, around)
        except DocumentFaults as error:
            self.misfits[campaign.name] = error.faults
            return
        for type_ in campaign.on:
            self._shelves.setdefault(type_, {}).setdefault(campaign.country, _Shelf()).put(armed, rule)

    def _remove(self, campaign: Campaign) -> None:
        del self._campaigns[campaign.name]
        if self.misfits.pop(campaign.name, None) is not None:
            return
        for type_ in campaign.on:
            shelves = self._shelves[type_]
            shelves[campaign.country].remove(campaign.name)
            if not len(shelves[campaign.country].index):
                del shelves[campaign.country]
            if not shelves:
                del self._shelves[type_]


def compiled(campaign: Campaign, around: Publications) -> tuple[Armed, Rule | None]:
    """The campaign ready to be decided, and its rule. Raises `DocumentFaults` where it does not fit what there is."""
    rule = _rule(campaign, around)
    awards = [each.deed for step in campaign.steps for each in step.actions if isinstance(each.deed, Award)]
    plan = RulePlan(rule) if rule is not None else None
    looked_up = set(looked_up_sides(rule)) if rule is not None else set()
    looks_back = any(side.place == CAMPAIGN for side in looked_up)
    holdout = around.holdouts.get(campaign.country, 0) if campaign.respects_holdout else 0
    return Armed(campaign, plan, bool(looked_up), looks_back, any(map(needs_tier, awards)), holdout), rule


def _rule(campaign: Campaign, around: Publications) -> Rule | None:
    """Raises `DocumentFaults` where the campaign does not fit what is published now."""
    if missing := [each for each in campaign.on if not _is_there(each, around)]:
        raise DocumentFaults([Fault("on", f"{'/'.join(missing[0])} is not published any more")])
    if campaign.when is None:
        return None
    return parse_rule(campaign.when, of_campaign(Vocabulary(campaign.on, around.sources), around))


def _is_there(event_type: EventType, around: Publications) -> bool:
    source, type_ = event_type
    return source in around.sources and type_ in around.sources[source].types

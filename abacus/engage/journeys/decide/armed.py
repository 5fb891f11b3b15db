"""A version of a journey that is ready to be walked: its rules compiled, each once. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.journeys.decide.graph import turns_back
from abacus.engage.journeys.decide.journey import Journey, Leaving
from abacus.engage.journeys.decide.node import Branch, Node, RuleDocument, Wait
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.sides import of_journey
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.rules.decide.compiler import Compiled, compile_rule
from abacus.signals.rules.decide.document import parse_rule
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import Facts, Rule


class ArmedOccasion(NamedTuple):
    """Events of these types for which a rule holds. Without a plan each of them is meant."""

    on: frozenset[EventType]
    plan: RulePlan | None


class ArmedBranch:
    """The rules of a branch: `plans` for a decision that tells what was looked at, and compiled for many members whose
    values were all looked up. `needs` has the left sides of these values.
    """

    __slots__ = ("_compiled", "_rules", "needs", "plans")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.plans = [RulePlan(each) for each in rules]
        self.needs = frozenset(side.text for each in rules for side in looked_up_sides(each))
        self._rules = rules
        self._compiled: list[Compiled] = []  # once the first facts come

    def taken(self, facts: Facts, known: Mapping[str, Any]) -> int | None:
        """The place of the first rule that holds; None where none does."""
        self._compiled = self._compiled or [compile_rule(each) for each in self._rules]
        return next((place for place, holds in enumerate(self._compiled) if holds(facts, known)), None)


class ArmedExit(NamedTuple):
    """An exit at any time, by a rule alone."""

    name: str
    plan: RulePlan


@dataclass(frozen=True, slots=True)
class Armed:
    """A version, with its plans by the numbers of the nodes. `occasions` has the waits for events, and the waits for a
    rule that is looked at anew after events; `leaves_by` the exits by events, by their names; `turns` the ways that
    begin another turn, by the numbers of their nodes.
    """

    journey: Journey
    entry: RulePlan | None
    branches: Mapping[int, ArmedBranch]
    conditions: Mapping[int, RulePlan]
    occasions: Mapping[int, ArmedOccasion]
    exits: Sequence[ArmedExit]
    leaves_by: Mapping[str, ArmedOccasion]
    goal: ArmedOccasion | None
    turns: frozenset[tuple[int, int]]

    def node(self, name: str) -> Node:
        return self.journey.nodes[name]


def arm(journey: Journey, around: JourneyPublications) -> Armed:
    """Raises `DocumentFaults` where the version does not fit what is published now."""
    of = _Plans(journey, around)
    parts = {node.number: node.part for node in journey.nodes.values()}
    waits = {number: part for number, part in parts.items() if isinstance(part, Wait)}
    goal = journey.goal
    return Armed(
        journey,
        of.plan(journey.entry.when, of.entry),
        {
            number: ArmedBranch([of.rule(each.when, of.entry) for each in part.turnoffs])
            for number, part in parts.items()
            if isinstance(part, Branch)
        },
        {number: of.needed(wait.until_rule.when) for number, wait in waits.items() if wait.until_rule is not None},
        {
            number: of.occasion(wait.awaited, None if wait.until_event is None else wait.until_event.when)
            for number, wait in waits.items()
            if wait.awaited
        },
        [_exit(each, of) for each in journey.exits if not each.on],
        {each.name: of.occasion(each.on, each.when) for each in journey.exits if each.on},
        None if goal is None else of.occasion(goal.occasion.on, goal.occasion.when),
        frozenset(
            (journey.nodes[one].number, journey.nodes[other].number)
            for one, other in turns_back(journey.begin, journey.nodes)
        ),
    )


class _Plans:
    def __init__(self, journey: Journey, around: JourneyPublications) -> None:
        self._journey = journey
        self._around = around
        self.entry = self._there(journey.entry.on)

    def plan(self, rule: RuleDocument | None, on: Sequence[EventType]) -> RulePlan | None:
        return None if rule is None else RulePlan(self.rule(rule, on))

    def needed(self, rule: RuleDocument) -> RulePlan:
        """Of a rule about a member, with the event by which it entered."""
        return RulePlan(self.rule(rule, self.entry))

    def rule(self, rule: RuleDocument, on: Sequence[EventType]) -> Rule:
        return parse_rule(rule, of_journey(on, self._journey.context, self._around))

    def occasion(self, on: Sequence[EventType], when: RuleDocument | None) -> ArmedOccasion:
        return ArmedOccasion(frozenset(on), self.plan(when, self._there(on)))

    def _there(self, on: Sequence[EventType]) -> Sequence[EventType]:
        """Raises `DocumentFaults`."""
        sources = self._around.beside.sources
        for source, type_ in on:
            if source not in sources or type_ not in sources[source].types:
                raise DocumentFaults([Fault("on", f"{source}/{type_} is not published any more")])
        return on


def _exit(leaving: Leaving, of: _Plans) -> ArmedExit:
    if leaving.when is None:
        raise DocumentFaults([Fault("exits", f"{leaving.name} has neither a rule nor events")])
    return ArmedExit(leaving.name, of.needed(leaving.when))

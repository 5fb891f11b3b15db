"""The nodes of a journey as its document writes them. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, mapping, quoted, string
from abacus.core.lengths import length_text, read_length
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.engage.journeys.decide.deed_reader import do_document, read_do
from abacus.engage.journeys.decide.moment_reader import read_until, read_zone, until_document
from abacus.engage.journeys.decide.moments import MEMBER, OfContext
from abacus.engage.journeys.decide.node import (
    Arm,
    Branch,
    Condition,
    Do,
    Exit,
    Node,
    Occasion,
    Part,
    Rate,
    Split,
    Turnoff,
    Wait,
)
from abacus.engage.journeys.decide.sides import context_type
from abacus.engage.journeys.decide.words import JourneyWords
from abacus.signals.events.types import VariableType

MAX_NODES: Final = 500
MAX_TURNOFFS: Final = 50
MAX_ARMS: Final = 10
PARTS: Final = ("wait", "branch", "split", "rate", "do", "exit")
_WHOLE: Final = 100
_MOST_A_MINUTE: Final = 10_000_000
_SHORTEST_PACE: Final = timedelta(minutes=1)
_NAME: Final = re.compile(NAME_PATTERN)
_NONE: Final[Sequence[object]] = ()

read_node_name: Final = fields.matching(
    _NAME, "is not a name; write at most 64 small letters, digits and underscores, beginning with a letter (remind)"
)


class _Reader:
    """Reads nodes, and knows the names to which they may lead."""

    def __init__(self, names: Mapping[str, object], words: JourneyWords) -> None:
        self._names = names
        self._words = words
        self._parts: Mapping[str, Callable[[Fields], Part | None]] = {
            "wait": self._wait,
            "branch": self._branch,
            "split": self._split,
            "rate": self._rate,
            "do": self._do,
            "exit": self._exit,
        }

    def part(self, table: Fields) -> Part | None:
        """Nothing where it has a fault."""
        named = [name for name in PARTS if name in table.values]
        part = None
        if len(named) == 1:
            part = self._parts[named[0]](table)
        elif not table.is_absent:
            for name in (*named, "next", "otherwise"):
                table.read_if_there(name, lambda value: value, None)
            table.note("wait", f"the node is {len(named)} things at once; write one of {', '.join(PARTS)}")
        table.refuse_unknown()
        return part

    def name(self, value: object) -> str:
        """Of a node that is there. Raises `Bad`."""
        name = string(value)
        if name not in self._names:
            raise Bad(f"there is no node {quoted(name)}")
        return name

    def _wait(self, table: Fields) -> Part | None:
        inner = table.table("wait")
        until = read_until(inner)
        zone = inner.read_if_there("zone", read_zone, MEMBER)
        event = self._event(inner.table("event", optional=True))
        rule = self._condition(inner.table("rule", optional=True))
        inner.refuse_unknown()
        if "event" in inner.values and "rule" in inner.values:
            inner.note("rule", "beside `event`; write one of them")
        following = table.read("next", self.name, "")
        otherwise = None
        if {"event", "rule"} & inner.values.keys():
            otherwise = table.read("otherwise", self.name, "")
        if isinstance(until, OfContext):
            self._check_time(inner, until.field)
        return None if until is None else Wait(until, following, zone, event, rule, otherwise)

    def _check_time(self, inner: Fields, field: str) -> None:
        def check(_: object) -> None:
            type_ = context_type(field, self._words.context)
            if type_ is not VariableType.TIME:
                raise Bad(f"context.{field} is of type {type_}, and {VariableType.TIME} is wanted")

        self._words.judged(inner, "until", check)

    def _event(self, table: Fields) -> Occasion | None:
        occasion = self._words.occasion(table) if not table.is_absent else None
        table.refuse_unknown()
        return occasion

    def _condition(self, table: Fields) -> Condition | None:
        if table.is_absent:
            return None
        when = self._words.needed_rule(table, "when")
        every = table.read_if_there("every", _pace, None)
        after = self._words.types(table, "after", optional=True)
        if not {"every", "after"} & table.values.keys():
            table.note("every", "missing; write how often the rule is looked at anew, or `after` which events")
        table.refuse_unknown()
        return None if when is None else Condition(when, every, after)

    def _branch(self, table: Fields) -> Part:
        turnoffs = []
        for place, each in enumerate(table.read("branch", _tables(MAX_TURNOFFS), _NONE)):
            inner = table.entry_table("branch", place, each)
            when = self._words.needed_rule(inner, "when")
            following = inner.read("next", self.name, "")
            inner.refuse_unknown()
            if when is not None:
                turnoffs.append(Turnoff(when, following))
        return Branch(tuple(turnoffs), table.read("otherwise", self.name, ""))

    def _split(self, table: Fields) -> Part:
        tables = table.read("split", _tables(MAX_ARMS, least=2), _NONE)
        before = [table.entry_table("split", place, each) for place, each in enumerate(tables)]
        arms = [
            Arm(
                inner.read("arm", read_node_name, ""),
                inner.read("share", fields.whole(1, _WHOLE), 0),
                inner.read("next", self.name, ""),
            )
            for inner in before
        ]
        for inner in before:
            inner.refuse_unknown()
        if len({arm.name for arm in arms}) < len(arms):
            table.note("split", "two arms have one name")
        if arms and all(arm.share for arm in arms) and (total := sum(arm.share for arm in arms)) != _WHOLE:
            table.note("split", f"the shares make {total}; they have to make {_WHOLE}")
        return Split(tuple(arms))

    def _rate(self, table: Fields) -> Part:
        return Rate(table.read("rate", fields.whole(1, _MOST_A_MINUTE), 1), table.read("next", self.name, ""))

    def _do(self, table: Fields) -> Part | None:
        deed = read_do(table, self._words)
        following = table.read("next", self.name, "")
        return None if deed is None else Do(deed, following)

    @staticmethod
    def _exit(table: Fields) -> Part:
        return Exit(table.read("exit", read_node_name, ""))


def read_nodes(top: Fields, words: JourneyWords) -> tuple[str, dict[str, Node]]:
    """The name of the first node, and all nodes by name."""
    nodes = top.table("nodes")
    tables = nodes.tables(read_node_name, at_most=MAX_NODES)
    reader = _Reader(nodes.values, words)
    read = {name: reader.part(table) for name, table in tables.items()}
    parts = {name: part for name, part in read.items() if part is not None}
    numbers = {name: number for number, name in enumerate(sorted(parts), start=1)}
    return top.read("begin", reader.name, ""), {name: Node(name, numbers[name], part) for name, part in parts.items()}


def node_document(part: Part) -> dict[str, object]:
    """As `read_nodes` reads it."""
    match part:
        case Wait():
            return _wait_document(part)
        case Branch(turnoffs, otherwise):
            ways = [{"when": dict(each.when), "next": each.next} for each in turnoffs]
            return {"branch": ways, "otherwise": otherwise}
        case Split(arms):
            return {"split": [{"arm": each.name, "share": each.share, "next": each.next} for each in arms]}
        case Rate(per_minute, following):
            return {"rate": per_minute, "next": following}
        case Do(deed, following):
            return {"do": do_document(deed), "next": following}
        case Exit(reason):
            return {"exit": reason}


def occasion_document(occasion: Occasion) -> dict[str, object]:
    """As `JourneyWords.occasion` reads it."""
    document: dict[str, object] = {"on": ["/".join(each) for each in occasion.on]}
    return document if occasion.when is None else {**document, "when": dict(occasion.when)}


def _wait_document(wait: Wait) -> dict[str, object]:
    inner = until_document(wait.until)
    if wait.zone != MEMBER:
        inner["zone"] = wait.zone
    if wait.until_event is not None:
        inner["event"] = occasion_document(wait.until_event)
    if (rule := wait.until_rule) is not None:
        condition: dict[str, object] = {"when": dict(rule.when)}
        if rule.every is not None:
            condition["every"] = length_text(rule.every)
        if rule.after:
            condition["after"] = ["/".join(each) for each in rule.after]
        inner["rule"] = condition
    document: dict[str, object] = {"wait": inner, "next": wait.next}
    return document if wait.otherwise is None else {**document, "otherwise": wait.otherwise}


def _pace(value: object) -> timedelta:
    every = read_length(value)
    if every < _SHORTEST_PACE:
        raise Bad(f"{length_text(every)} is a short pace; write at least {length_text(_SHORTEST_PACE)}")
    return every


def _tables(most: int, *, least: int = 1) -> Callable[[object], Sequence[object]]:
    def read(value: object) -> Sequence[object]:
        if not isinstance(value, list | tuple) or not least <= len(value) <= most:
            raise Bad(f"write an array of {least} to {most} tables")
        for each in value:
            mapping(each)
        return value

    return read

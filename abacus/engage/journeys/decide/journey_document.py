"""A journey as a document, and the changes from one version to the next in words. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from abacus.core.document_text import Inline, Tables, write_toml
from abacus.core.lengths import length_text
from abacus.documents.decide.heading import term_document
from abacus.engage.journeys.decide.entry import ONCE
from abacus.engage.journeys.decide.entry_reader import entry_document, re_entry_document
from abacus.engage.journeys.decide.graph import in_order
from abacus.engage.journeys.decide.journey import AS_IT_COMES, AtEnd, Goal, Journey, Leaving
from abacus.engage.journeys.decide.node_reader import node_document, occasion_document
from abacus.engage.notify.decide.template import DEFAULT_LOCALE

_HEADED: Final = ("branch", "split")  # fields of nodes whose tables have headings of their own


def to_document(journey: Journey) -> dict[str, object]:
    """The journey as JSON holds it; its version and the numbers of its nodes are no part of that. `parse_journey` makes
    the same journey of it. Nodes stand in the order in which members come to them.
    """
    document = term_document(journey)
    if journey.languages != (DEFAULT_LOCALE,):
        document["languages"] = list(journey.languages)
    document |= entry_document(journey.entry, journey.context)
    if journey.re_entry != ONCE:
        document["re_entry"] = re_entry_document(journey.re_entry)
    if journey.exits:
        document["exits"] = [_leaving_document(each) for each in journey.exits]
    if journey.goal is not None:
        document["goal"] = _goal_document(journey.goal)
    if journey.at_end is not AtEnd.FINISH:
        document["at_end"] = journey.at_end.value
    if journey.lateness.late is not AS_IT_COMES.late:
        document["late"] = journey.lateness.late.value
    if journey.lateness.not_later_than is not None:
        document["not_later_than"] = length_text(journey.lateness.not_later_than)
    if journey.quiet_hours is not None:
        document["quiet_hours"] = str(journey.quiet_hours)
    document["kind"] = journey.kind
    if journey.priority:
        document["priority"] = journey.priority
    document["begin"] = journey.begin
    document["nodes"] = {node.name: node_document(node.part) for node in in_order(journey)}
    return document


def to_toml(journey: Journey) -> str:
    """The journey as a file to edit."""
    return toml_of(to_document(journey))


def toml_of(document: Mapping[str, object]) -> str:
    """A document as a file to edit, be it a journey already or not. Nodes, turnoffs, arms and exits have headings."""
    nodes = document.get("nodes")
    if isinstance(nodes, Mapping):
        document = {**document, "nodes": {name: _headed(node) for name, node in nodes.items()}}
    exits = _tables(document.get("exits"))
    return write_toml(document if exits is None else {**document, "exits": exits})


def described(journey: Journey) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(journey).items():
        if name == "nodes" and isinstance(value, dict):
            yield from ((f"nodes.{each}", _words(node)) for each, node in value.items())
        elif name == "exits" and isinstance(value, list):
            yield from ((f"exits.{each['name']}", _words(each)) for each in value)
        else:
            yield name, _words(value)


def _leaving_document(leaving: Leaving) -> dict[str, object]:
    document: dict[str, object] = {"name": leaving.name}
    if leaving.on:
        document["on"] = ["/".join(each) for each in leaving.on]
    if leaving.when is not None:
        document["when"] = dict(leaving.when)
    return document


def _goal_document(goal: Goal) -> dict[str, object]:
    return {**occasion_document(goal.occasion), "within": length_text(goal.within)}


def _headed(node: object) -> object:
    """What a node does stands within its lines; only arrays of ways have headings."""
    if not isinstance(node, Mapping):
        return node
    headed: dict[str, object] = {}
    for name, value in node.items():
        tables = _tables(value) if name in _HEADED else None
        if tables is not None:
            headed[name] = Tables([{key: _inline(each) for key, each in table.items()} for table in tables])
        else:
            headed[name] = _inline(value)
    return headed


def _inline(value: object) -> object:
    return Inline(value) if isinstance(value, Mapping) else value


def _tables(value: object) -> Tables | None:
    """None for what is no array of tables."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(each, Mapping) for each in value):
        return None
    return Tables(value)


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Texts of messages that are corrected in place. Pure."""

from dataclasses import replace

from abacus.engage.actions.decide.deeds import Tell
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do, Node


def corrects(journey: Journey, newer: Journey) -> bool:
    """Whether the newer version differs by the texts of its messages alone, and by what it is about."""
    return _silent(journey) == _silent(newer)


def with_texts(journey: Journey, newer: Journey) -> Journey:
    """The version with the texts of another one, which corrects it."""
    return replace(journey, nodes=newer.nodes)


def _silent(journey: Journey) -> Journey:
    """Without what may be corrected."""
    nodes = {name: _without_texts(node) for name, node in journey.nodes.items()}
    return replace(journey, nodes=nodes, about="", version=0, approved_at=journey.starts_at)


def _without_texts(node: Node) -> Node:
    if isinstance(node.part, Do) and isinstance(node.part.deed, Tell):
        silent = Tell(dict.fromkeys(node.part.deed.templates, ""))
        return node._replace(part=Do(silent, node.part.next))
    return node

"""Members who are inside are moved to another version: where each lands, and when it goes on there. Pure.

A member waits on at the counterpart of the node where it waits: the node that the map names, or else the node of that
name. Nothing is done for a member by the move itself.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from zoneinfo import ZoneInfo

import orjson

from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.actions.decide.deeds import Tell
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.graph import in_order, reached_from
from abacus.engage.journeys.decide.journey import CONTROL, Journey
from abacus.engage.journeys.decide.node import Do, Node, Rate, Wait
from abacus.engage.journeys.decide.seat import Arrived, Moved, Waits
from abacus.engage.journeys.decide.waits import over_at, zone_of
from abacus.people.decide.agreement import canonical
from abacus.people.types.approval import ApprovalKind, Proposal


class GoesOn(StrEnum):
    """When a member goes on who was moved."""

    BY_ITS_START = "by the start of its wait"  # as if it had come to the new node then
    AS_BEFORE = "when it would have"
    AT_ONCE = "at once"


class Landing(NamedTuple):
    """Where members land who wait at a node, and when they go on."""

    node: Node
    goes_on: GoesOn


class Stand(NamedTuple):
    """A node where members wait, by its number, and the arm to which they belong."""

    node: int
    arm: str | None


@dataclass(frozen=True)
class Migration:
    """The move from one version to another. `named` are the counterparts that the map names."""

    before: Journey
    after: Journey
    named: Mapping[str, str]

    @property
    def label(self) -> str:
        return f"{self.before.label} to {self.after.label}"

    def landing(self, number: int) -> Landing | None:
        """Of the members who wait at a node of the earlier version; None where it has no counterpart."""
        node = self.before.by_number.get(number)
        there = None if node is None else self.after.nodes.get(self.named.get(node.name, node.name))
        return None if node is None or there is None else Landing(there, _goes_on(node, there))

    def nodes(self, waited_at: Container[int] = ()) -> Iterator[Node]:
        """The nodes of the earlier version where members may wait, or do wait by their numbers, in their order."""
        return (node for node in in_order(self.before) if _is_waited_at(node) or node.number in waited_at)

    def proposal(self, members: int) -> Proposal:
        """What a second person agrees to: these versions, and where the members of each node land."""
        lands = {node.name: landing.node.name for node in self.nodes() if (landing := self.landing(node.number))}
        document = {"from": self.before.version, "to": self.after.version, "nodes": lands}
        moved = [f"{name} to {there}" for name, there in lands.items() if name != there]
        who = f"{members:,} member{'' if members == 1 else 's'}"
        summary = f"move {who} from {self.label}: {', '.join(moved) or 'each node to its namesake'}"
        journey = self.before
        return Proposal(ApprovalKind.JOURNEY_MIGRATION, journey.name, journey.country, summary, canonical(document))


def read_migration(before: Journey, after: Journey, written: Mapping[str, object]) -> Migration:
    """The move, with a map as it was written. Raises `DocumentFaults` with every fault."""
    faults = [*_unlike(before, after), *_of_map(before, after, written)]
    migration = Migration(before, after, {name: str(there) for name, there in written.items()})
    missing = [node for node in migration.nodes() if node.name not in written and node.name not in after.nodes]
    faults += [
        Fault(node.name, f"{after.label} has no such node; the map has to say where its members land")
        for node in missing
    ]
    if faults:
        raise DocumentFaults(faults)
    return migration


def faults_of_stands(migration: Migration, stands: Iterable[Stand]) -> list[Fault]:
    """What is wrong for members who wait now: in the arm `control` nothing is done, on whatever version."""
    faults: list[Fault] = []
    nodes = migration.after.nodes
    for number, arm in stands:
        landing = migration.landing(number)
        if landing is None:
            faults.append(Fault(_name(migration.before, number), "members wait here, and the map does not name it"))
        elif arm == CONTROL and any(isinstance(nodes[each].part, Do) for each in _reached(landing.node, nodes)):
            why = f"members of the arm {CONTROL} wait here; from {landing.node.name} they would come to a deed"
            faults.append(Fault(_name(migration.before, number), why))
    return faults


def landed(migration: Migration, arrived: Arrived, due: datetime, zone: str, now: datetime) -> Moved:
    """The move of one member, who waits at a node until `due`, by the clock of a zone."""
    journey, seat = migration.after, arrived.seat._replace(version=migration.after.version)
    landing = migration.landing(arrived.node or 0)
    if landing is None:
        raise LookupError(f"node {arrived.node} of {migration.before.label} has no counterpart")
    node, goes_on = landing
    zone = journey.timezone if zone == migration.before.timezone else zone
    wait = node.part if isinstance(node.part, Wait) else None
    awaits = wait is not None and _may_end_early(wait)
    since = seat.since if goes_on is GoesOn.BY_ITS_START else now
    if goes_on is GoesOn.AT_ONCE or (wait is not None and wait.until_rule is not None):
        due = now
    elif goes_on is GoesOn.BY_ITS_START and wait is not None:
        context = {} if seat.context is None else read_context(orjson.loads(seat.context), journey.context)
        clock = zone_of(wait.zone, member=ZoneInfo(zone), country=journey.zone)
        due = max(now, over_at(wait.until, since, clock, context))
    waits = Waits(node.number, arrived.turn or 0, due, zone, arrived.arm, awaits, since)
    return Moved(Arrived(seat, node.number, arrived.turn, arrived.arm), (), (), waits)


def _goes_on(node: Node, there: Node) -> GoesOn:
    if isinstance(there.part, Wait):
        began = isinstance(node.part, Wait) and _may_end_early(node.part)
        return GoesOn.BY_ITS_START if began else GoesOn.AS_BEFORE
    return GoesOn.AS_BEFORE if type(node.part) is type(there.part) else GoesOn.AT_ONCE


def _may_end_early(wait: Wait) -> bool:
    """Whether something but the time may end it: then the seat of a member says since when it waits."""
    return wait.until_event is not None or wait.until_rule is not None


def _is_waited_at(node: Node) -> bool:
    """Messages are waited at in quiet hours."""
    return isinstance(node.part, Wait | Rate) or (isinstance(node.part, Do) and isinstance(node.part.deed, Tell))


def _unlike(before: Journey, after: Journey) -> Iterator[Fault]:
    """What members bring along has to be what the other version reads."""
    if before.country != after.country:
        yield Fault("country", f"{before.label} is of {before.country}, and {after.label} of {after.country}")
    if before.context != after.context:
        yield Fault("context", f"members inside {before.label} did not bring that of {after.label}")
    strange = set(after.entry.on) and set(before.entry.on) - set(after.entry.on)
    if strange or (after.entry.on and not before.entry.on):
        yield Fault("entry", f"members inside {before.label} did not enter by an event of {after.label}")


def _of_map(before: Journey, after: Journey, written: Mapping[str, object]) -> Iterator[Fault]:
    for name, there in written.items():
        if name not in before.nodes:
            yield Fault(name, f"there is no such node in {before.label}")
        elif not isinstance(there, str):
            yield Fault(name, f"write the name of a node of {after.label}")
        elif there not in after.nodes:
            yield Fault(name, f"there is no node {there!r} in {after.label}")


def _reached(node: Node, nodes: Mapping[str, Node]) -> Iterable[str]:
    return reached_from([node.name], nodes)


def _name(journey: Journey, number: int) -> str:
    node = journey.by_number.get(number)
    return str(number) if node is None else node.name

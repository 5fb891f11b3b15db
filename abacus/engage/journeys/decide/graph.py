"""The nodes of a journey as a graph: nodes that nothing reaches, paths without an end, loops without a wait. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from abacus.core.fields import Fault
from abacus.engage.journeys.decide.journey import CONTROL, Journey
from abacus.engage.journeys.decide.node import Do, Exit, Node, Split, Wait

_BETWEEN: Final = " → "


def faults_of_graph(begin: str, nodes: Mapping[str, Node]) -> list[Fault]:
    """What is wrong with the ways of nodes that all lead to nodes that are there."""
    reached = reached_from([begin], nodes)
    faults = [Fault(f"nodes.{name}", "no node leads here") for name in nodes if name not in reached]
    ends = _leading_to_an_exit(nodes)
    faults += [Fault(f"nodes.{name}", "no exit can be reached from here") for name in nodes if name not in ends]
    if loop := _loop_without_wait(nodes):
        faults.append(Fault(f"nodes.{loop[0]}", f"goes round without a wait: {_BETWEEN.join(loop)}"))
    for name, node in nodes.items():
        if isinstance(node.part, Split):
            faults += _done_for_control(name, node.part, nodes)
    return faults


def reached_from(names: Iterable[str], nodes: Mapping[str, Node]) -> dict[str, None]:
    """These nodes and all to which they lead, in the order of their distance."""
    found = dict.fromkeys(names)
    waiting = list(found)
    for name in waiting:
        for way in nodes[name].part.ways:
            if way.to not in found:
                found[way.to] = None
                waiting.append(way.to)
    return found


def in_order(journey: Journey) -> list[Node]:
    """The nodes as a person reads them: from the first one on, by their distance."""
    reached = reached_from([journey.begin], journey.nodes) if journey.begin in journey.nodes else {}
    return [journey.nodes[name] for name in [*reached, *(each for each in journey.nodes if each not in reached)]]


def turns_back(begin: str, nodes: Mapping[str, Node]) -> frozenset[tuple[str, str]]:
    """The ways that close a loop, as from and to: a member that takes one begins another turn. Every loop has one."""
    return ways_back([begin], _leads(nodes))


def ways_back(begins: Iterable[str], leads: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, str]]:
    """The same of anything that leads somewhere."""
    return frozenset((loop[-2], loop[-1]) for loop in _loops(begins, leads))


def _loops(begins: Iterable[str], leads: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Loops, each with the node that it comes back to as its first and its last. There is one for each way that closes
    a loop, as a walk into the depth comes to it.
    """
    done: set[str] = set()
    for begin in begins:
        on_path: dict[str, Iterator[str]] = {begin: _ways(leads[begin])} if begin not in done else {}
        while on_path:
            name = next(reversed(on_path))
            following = next(on_path[name], None)
            if following is None:
                done.add(name)
                del on_path[name]
            elif following in on_path:
                path = list(on_path)
                yield [*path[path.index(following) :], following]
            elif following in leads and following not in done:
                on_path[following] = _ways(leads[following])


def _ways(leads: Iterable[str]) -> Iterator[str]:
    return iter(sorted(set(leads)))


def _leads(nodes: Mapping[str, Node]) -> Mapping[str, Iterable[str]]:
    return {name: [way.to for way in node.part.ways] for name, node in nodes.items()}


def _leading_to_an_exit(nodes: Mapping[str, Node]) -> set[str]:
    before: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for way in node.part.ways:
            before.setdefault(way.to, []).append(name)
    waiting = [name for name, node in nodes.items() if isinstance(node.part, Exit)]
    found = set(waiting)
    while waiting:
        for name in before.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _loop_without_wait(nodes: Mapping[str, Node]) -> list[str]:
    """The names along a loop that a member would go round at once."""
    at_once = {name: node for name, node in nodes.items() if not (isinstance(node.part, Wait) and node.part.takes_time)}
    return next(_loops(at_once, _leads(at_once)), [])


def _done_for_control(name: str, split: Split, nodes: Mapping[str, Node]) -> list[Fault]:
    control = [arm.next for arm in split.arms if arm.name == CONTROL]
    done = [each for each in reached_from(control, nodes) if isinstance(nodes[each].part, Do)]
    return [
        Fault(f"nodes.{each}", f"is reached in the arm {CONTROL} of {name}, in which nothing is done") for each in done
    ]

"""Where the nodes of a graph stand in a drawing, and by which points its lines go: in layers, from above to below, each
node below all that lead to it; a line that closes a loop goes back up. Sideways, layers go from left to right. Pure:
the same graph has the same drawing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from abacus.engage.journeys.decide.graph import ways_back

BOX: Final = (180.0, 64.0)  # how wide and how high a node is
BETWEEN: Final = 72.0  # two layers
_BESIDE: Final = 24.0  # two nodes of a layer
_MARGIN: Final = 16.0
_LINE: Final = 20.0  # how wide a line is that passes a layer
_PORTS: Final = 22.0  # between two lines at a node, if there is room
_SWEEPS: Final = 8
_MOST_LED: Final = 4_000  # layers that all lines together pass; of more, long lines are straight
_FARTHEST: Final = 12  # layers that such a line is led around their nodes
_QUICK: Final = 40_000  # slots looked at: of a large graph there are fewer sweeps

Way: TypeAlias = tuple[str, str]  # from a node to another


class Point(NamedTuple):
    """From the left, and from above."""

    x: float
    y: float


@dataclass(frozen=True)
class Layers:
    """The middle of each node; the points of each line from its beginning to its end; the lines that go back; and how
    large all is.
    """

    places: Mapping[str, Point]
    lines: dict[Way, Sequence[Point]]
    back: frozenset[Way]
    width: float
    height: float
    sideways: bool


class _Slot(NamedTuple):
    """What takes room in a layer: a node, or a line that passes."""

    layer: int
    node: str
    width: float
    line: Way | None = None


def in_layers(leads: Mapping[str, Iterable[str]], *, sideways: bool = False) -> Layers:
    """Of nodes in the order in which a person reads them, the first one first. What a node leads to that is none is
    left out.
    """
    ways = [(name, to) for name, others in leads.items() for to in dict.fromkeys(others) if to in leads]
    back = ways_back(leads, leads)
    layer = _layers(leads, [_downwards(way, back) for way in ways if way[0] != way[1]])
    width, height = BOX[::-1] if sideways else BOX
    apart = [way for way in ways if way[0] != way[1]]
    passed = sum(abs(layer[upper] - layer[lower]) for upper, lower in apart)
    farthest = len(leads) if passed <= _MOST_LED else _FARTHEST
    chains = {way: _chain(way, layer, width + _BESIDE, farthest) for way in apart}
    rows = _rows(leads, layer, chains, width + _BESIDE)
    sweeps = max(2, min(_SWEEPS, _QUICK // max(sum(map(len, rows)), 1)))
    _order(rows, chains.values(), sweeps)
    across = _placed(rows, chains.values(), sweeps)
    drawn = _drawn(rows, across, chains, back, (width, height))
    drawn.lines.update((way, _to_itself(drawn.places[way[0]], (width, height))) for way in ways if way[0] == way[1])
    return _turned(drawn) if sideways else drawn


def _downwards(way: Way, back: frozenset[Way]) -> Way:
    return (way[1], way[0]) if way in back else way


def _layers(names: Iterable[str], ways: Sequence[Way]) -> dict[str, int]:
    """How many layers each stands below the first: the longest way to it."""
    layer = dict.fromkeys(names, 0)
    below: dict[str, list[str]] = {}
    open_ = dict.fromkeys(layer, 0)
    for upper, lower in ways:
        below.setdefault(upper, []).append(lower)
        open_[lower] += 1
    ready = [name for name, count in open_.items() if not count]
    for name in ready:
        for lower in below.get(name, ()):
            layer[lower] = max(layer[lower], layer[name] + 1)
            open_[lower] -= 1
            if not open_[lower]:
                ready.append(lower)
    return layer


def _chain(way: Way, layer: Mapping[str, int], width: float, farthest: int) -> list[_Slot]:
    """The slots of a line, from above to below. A line that is longer than the farthest is straight."""
    upper, lower = sorted(way, key=layer.__getitem__)
    between = range(layer[upper] + 1, layer[lower]) if layer[lower] - layer[upper] <= farthest else ()
    return [
        _Slot(layer[upper], upper, width),
        *(_Slot(number, way[1], _LINE, way) for number in between),
        _Slot(layer[lower], lower, width),
    ]


def _rows(
    names: Iterable[str], layer: Mapping[str, int], chains: Mapping[Way, Sequence[_Slot]], width: float
) -> list[list[_Slot]]:
    rows: list[list[_Slot]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    of_upper: dict[str, list[_Slot]] = {}
    for chain in chains.values():
        of_upper.setdefault(chain[0].node, []).extend(chain[1:-1])
    for name in names:
        rows[layer[name]].append(_Slot(layer[name], name, width))
        for passing in of_upper.get(name, ()):
            rows[passing.layer].append(passing)
    return rows


def _neighbours(chains: Iterable[Sequence[_Slot]]) -> tuple[dict[_Slot, list[_Slot]], dict[_Slot, list[_Slot]]]:
    """The slots above each, and below each."""
    above: dict[_Slot, list[_Slot]] = {}
    below: dict[_Slot, list[_Slot]] = {}
    for chain in chains:
        for upper, lower in pairwise(chain):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    return above, below


def _order(rows: Sequence[list[_Slot]], chains: Iterable[Sequence[_Slot]], sweeps: int) -> None:
    """Each slot at the mean of its neighbours, by turns of those above and of those below: so fewer lines cross."""
    above, below = _neighbours(chains)
    for sweep in range(sweeps):
        beside, order = (below, rows[::-1]) if sweep % 2 else (above, rows)
        at = {slot: place / max(len(row) - 1, 1) for row in rows for place, slot in enumerate(row)}
        for row in order:
            row.sort(key=lambda slot: _mean([at[each] for each in beside.get(slot, ())], at[slot]))
            at |= {slot: place / max(len(row) - 1, 1) for place, slot in enumerate(row)}


def _placed(rows: Sequence[Sequence[_Slot]], chains: Iterable[Sequence[_Slot]], sweeps: int) -> dict[_Slot, float]:
    """How far from the left each slot is: near its neighbours, and beside the others of its layer."""
    above, below = _neighbours(chains)
    across: dict[_Slot, float] = {}
    for row in rows:
        across |= zip(row, _apart([0.0] * len(row), row), strict=True)
    for sweep in range(sweeps):
        beside, order = (below, rows[::-1]) if sweep % 2 else (above, rows)
        for row in order:
            wished = [_mean([across[each] for each in beside.get(slot, ())], across[slot]) for slot in row]
            across |= zip(row, _apart(wished, row), strict=True)
    left = min((at - slot.width / 2 for slot, at in across.items()), default=0.0)
    return {slot: at - left + _MARGIN - _BESIDE / 2 for slot, at in across.items()}


def _apart(wished: Sequence[float], row: Sequence[_Slot]) -> list[float]:
    """Places at which no node covers another, as near to the wished places as they can be, by squares."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (left.width + right.width) / 2)
    blocks: list[tuple[float, int]] = []  # the sum of what is wished for a block, and how many are in it
    for at, offset in zip(wished, offsets, strict=False):
        total, number = at - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / number:
            other, count = blocks.pop()
            total, number = total + other, number + count
        blocks.append((total, number))
    means = [total / number for total, number in blocks for _ in range(number)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


def _drawn(
    rows: Sequence[Sequence[_Slot]],
    across: Mapping[_Slot, float],
    chains: Mapping[Way, Sequence[_Slot]],
    back: frozenset[Way],
    box: tuple[float, float],
) -> Layers:
    half = box[1] / 2

    def down(slot: _Slot) -> float:
        return _MARGIN + half + slot.layer * (box[1] + BETWEEN)

    ports = _ports(chains, across, box[0])
    lines: dict[Way, Sequence[Point]] = {}
    for way, chain in chains.items():
        points = [Point(ports[way, True], down(chain[0]) + half)]
        for slot in chain[1:-1]:
            points += [Point(across[slot], down(slot) + sign * half) for sign in (-1, 1)]
        points.append(Point(ports[way, False], down(chain[-1]) - half))
        lines[way] = points[::-1] if way in back else points
    places = {slot.node: Point(across[slot], down(slot)) for row in rows for slot in row if slot.line is None}
    right = max((at + slot.width / 2 for slot, at in across.items()), default=0.0)
    height = len(rows) * (box[1] + BETWEEN) - BETWEEN + 2 * _MARGIN if rows else 0.0
    return Layers(places, lines, back, right - _BESIDE / 2 + _MARGIN, height, sideways=False)


def _turned(drawn: Layers) -> Layers:
    """From left to right what was from above to below."""
    places = {name: Point(at.y, at.x) for name, at in drawn.places.items()}
    lines: dict[Way, Sequence[Point]] = {
        way: [Point(at.y, at.x) for at in points] for way, points in drawn.lines.items()
    }
    return Layers(places, lines, drawn.back, drawn.height, drawn.width, sideways=True)


def _ports(
    chains: Mapping[Way, Sequence[_Slot]], across: Mapping[_Slot, float], width: float
) -> dict[tuple[Way, bool], float]:
    """Where lines meet their nodes: below (True), where they leave, and above, where they come. They stand from left
    to right as their neighbours do.
    """
    meeting: dict[tuple[_Slot, bool], list[tuple[float, Way]]] = {}
    for way, chain in chains.items():
        meeting.setdefault((chain[0], True), []).append((across[chain[1]], way))
        meeting.setdefault((chain[-1], False), []).append((across[chain[-2]], way))
    ports = {}
    for (slot, is_below), lines in meeting.items():
        step = min(_PORTS, (width - _PORTS) / len(lines))
        first = across[slot] - step * (len(lines) - 1) / 2
        for place, (_, way) in enumerate(sorted(lines)):
            ports[way, is_below] = first + place * step
    return ports


def _to_itself(at: Point, box: tuple[float, float]) -> list[Point]:
    """From the lower right of a node around to its upper right."""
    right, out = at.x + box[0] / 2, at.x + (box[0] + _BESIDE) / 2
    upper, lower = at.y - box[1] / 4, at.y + box[1] / 4
    return [Point(right, lower), Point(out, lower), Point(out, upper), Point(right, upper)]


def _mean(values: Sequence[float], usual: float) -> float:
    return sum(values) / len(values) if values else usual

"""Cuts the earth into the strips in which regions are found."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.signals.places.decide.edge import Edge
from abacus.signals.places.decide.rank_sets import Ranks, RankSets
from abacus.signals.places.decide.strips import A_DEGREE, ROWS, SOUTH, Edges, Strips

_ENOUGH: Final = 8  # edges, which are looked at one by one
_A_STRIP: Final = 4  # edges that are wanted in a strip of a knot
_MOST_STRIPS: Final = 64  # of a knot
_NARROWEST: Final = 2.0**-24  # degrees: a centimetre
_BESIDE: Final = 2.0**-40  # more than what rounding moves an end of a clipped edge
_TOLD_EVERY: Final = 1000  # strips


class _Knot(NamedTuple):
    """Edges that lie beside each other in a strip, which is cut into narrower ones. Points west of them are in the
    regions `around`.
    """

    number: int
    edges: Sequence[int]
    around: int
    south: float
    height: float
    strips: int


def cut(bounded: Mapping[Edge, Ranks], tell: Callable[[float], None]) -> tuple[Strips, Edges, RankSets]:
    """The strips of edges that each bound some regions. `tell` gets the share that is done, now and then."""
    return _Builder(bounded).build(tell)


class _Builder:
    def __init__(self, bounded: Mapping[Edge, Ranks]) -> None:
        self._sets = RankSets()
        self._edges = Edges(
            array("d", [edge.south for edge in bounded]),
            array("d", [edge.north for edge in bounded]),
            array("d", [edge.begin for edge in bounded]),
            array("d", [edge.end for edge in bounded]),
            array("i", map(self._sets.number, bounded.values())),
        )
        self._lists = [edges.tolist() for edges in self._edges[:4]]  # which are read more quickly
        self._first_cut = array("i", [0])
        self._cuts = array("d")
        self._parts = array("i")
        self._knot_south, self._knot_scale, self._knot_strip = array("d"), array("d"), array("i")
        self._leaf_around, self._leaf_first, self._leaf_edges = array("i"), array("i", [0]), array("i")
        self._waiting: list[_Knot] = []

    def build(self, tell: Callable[[float], None]) -> tuple[Strips, Edges, RankSets]:
        rows = self._by_strip(range(len(self._lists[0])), SOUTH, 1 / A_DEGREE, ROWS)
        self._strips(rows, 0, SOUTH, 1 / A_DEGREE)
        first = self._waiting
        self._waiting = []
        for done, knot in enumerate(first):
            if done % _TOLD_EVERY == 0:
                tell(done / len(first))
            self._waiting.append(knot)
            while self._waiting:
                self._untie(self._waiting.pop())
        strips = Strips(
            self._first_cut,
            self._cuts,
            self._parts,
            self._knot_south,
            self._knot_scale,
            self._knot_strip,
            self._leaf_around,
            self._leaf_first,
            self._leaf_edges,
        )
        return strips, self._edges, self._sets

    def _untie(self, knot: _Knot) -> None:
        number, edges, around, south, height, strips = knot
        self._knot_strip[number] = len(self._first_cut) - 1
        self._strips(self._by_strip(edges, south, height, strips), around, south, height)

    def _by_strip(self, edges: Sequence[int], south: float, height: float, strips: int) -> list[list[int]]:
        souths, norths, *_ = self._lists
        rows: list[list[int]] = [[] for _ in range(strips)]
        for edge in edges:
            lowest = int((souths[edge] - south) / height) if souths[edge] > south else 0
            last = (norths[edge] - south) / height
            highest = min(int(last) - last.is_integer(), strips - 1)  # an edge does not pass the height of its end
            if lowest == highest:
                rows[lowest].append(edge)
            else:
                for row in range(lowest, highest + 1):
                    rows[row].append(edge)
        return rows

    def _strips(self, rows: Sequence[Sequence[int]], around: int, south: float, height: float) -> None:
        for number, edges in enumerate(rows):
            self._strip(edges, around, south + number * height, height)
            self._first_cut.append(len(self._cuts))

    def _strip(self, edges: Sequence[int], around: int, south: float, height: float) -> None:
        souths, norths, *_ = self._lists
        cuts, parts, toggles, toggled = self._cuts, self._parts, self._edges.toggles, self._sets.toggled
        parts.append(around)
        stretches = self._stretches(edges, south, south + height)
        at, count = 0, len(stretches)
        while at < count:
            west, east, edge = stretches[at]
            beside = [edge]
            at += 1
            while at < count and (stretch := stretches[at])[0] <= east:
                east = max(east, stretch[1])
                beside.append(stretch[2])
                at += 1
            cuts.append(west)
            parts.append(~self._tied(beside, around, south, height))
            for edge in beside:
                if souths[edge] <= south < norths[edge]:
                    around = toggled(around, toggles[edge])
            cuts.append(east)
            parts.append(around)

    def _stretches(self, edges: Sequence[int], south: float, north: float) -> list[tuple[float, float, int]]:
        """The longitudes that each edge has in a strip, from west to east."""
        souths, norths, begins, ends = self._lists
        stretches = []
        for edge in edges:
            begin, end, low, high = begins[edge], ends[edge], souths[edge], norths[edge]
            if begin > end:
                west, east = end, begin
            else:
                west, east = begin, end
            if west < east and (low < south or high > north):
                slope = (end - begin) / (high - low)
                left = begin + slope * (south - low) if low < south else begin
                right = begin + slope * (north - low) if high > north else end
                if left > right:
                    left, right = right, left
                west, east = max(west, left), min(east, right)
            stretches.append((west - _BESIDE, east + _BESIDE, edge))
        stretches.sort()
        return stretches

    def _tied(self, edges: Sequence[int], around: int, south: float, height: float) -> int:
        if len(edges) <= _ENOUGH or height <= _NARROWEST:
            self._leaf_around.append(around)
            souths, norths, *_ = self._lists
            self._leaf_edges.extend([edge for edge in edges if souths[edge] < norths[edge]])
            self._leaf_first.append(len(self._leaf_edges))
            return 2 * (len(self._leaf_around) - 1)
        number = len(self._knot_strip)
        strips = min(1 << (len(edges) // _A_STRIP).bit_length(), _MOST_STRIPS)
        self._knot_south.append(south)
        self._knot_scale.append(strips / height)
        self._knot_strip.append(0)  # it is known when the knot is untied
        self._waiting.append(_Knot(number, edges, around, south, height / strips, strips))
        return 2 * number + 1

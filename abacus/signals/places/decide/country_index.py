"""The regions of one country, as they are looked up: built once, where they are loaded, and read by every process."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from abacus.signals.places.decide.borders import Borders, Outlines, outlines_of
from abacus.signals.places.decide.edge import Edge, edges_of
from abacus.signals.places.decide.point import TURN
from abacus.signals.places.decide.rank_sets import RankSets
from abacus.signals.places.decide.region import Region, RegionName
from abacus.signals.places.decide.sphere import Box
from abacus.signals.places.decide.strip_builder import cut
from abacus.signals.places.decide.strips import Edges, Finder, Strips

_DATE_LINE = TURN / 2


class CountryIndex(NamedTuple):
    """What is stored of it. `names` are in the order of their ranks."""

    names: Sequence[RegionName]
    sets: RankSets
    strips: Strips
    edges: Edges
    outlines: Outlines

    def finder(self) -> Finder:
        return Finder(self.strips, self.edges, self.sets)

    def borders(self) -> Borders:
        return Borders(self.outlines, self.edges)


def build(regions: Iterable[Region], tell: Callable[[float], None] = lambda _: None) -> CountryIndex:
    """Takes a few seconds for thousands of regions. `tell` gets the share that is done, now and then."""
    ranked = sorted(regions, key=lambda region: region.called.rank)
    bounded: dict[Edge, tuple[int, ...]] = {}
    for rank, region in enumerate(ranked):
        for edge in _edges(region):
            ranks = bounded.get(edge, ())
            # An edge that two parts of a region share does not bound it.
            bounded[edge] = ranks[:-1] if ranks and ranks[-1] == rank else (*ranks, rank)
    bounded = {edge: ranks for edge, ranks in bounded.items() if ranks}
    bounding: list[list[int]] = [[] for _ in ranked]
    for number, ranks in enumerate(bounded.values()):
        for rank in ranks:
            bounding[rank].append(number)
    strips, edges, sets = cut(bounded, tell)
    outlines = outlines_of([_box(region) for region in ranked], bounding, edges)
    return CountryIndex([region.called for region in ranked], sets, strips, edges, outlines)


def _edges(region: Region) -> Iterable[Edge]:
    """A ring that goes on beyond the antimeridian is there twice, so that points on both sides of it are found."""
    for part in region.parts:
        is_beyond = max(x for x, _ in part[0]) > _DATE_LINE
        for ring in part:
            edges = list(edges_of(ring))
            yield from edges
            if is_beyond:
                yield from (edge.moved(-TURN) for edge in edges)


def _box(region: Region) -> Box:
    corners = [point for part in region.parts for point in part[0]]
    longitudes, latitudes = zip(*corners, strict=True)
    return Box(min(longitudes), min(latitudes), min(max(longitudes), min(longitudes) + TURN), max(latitudes))

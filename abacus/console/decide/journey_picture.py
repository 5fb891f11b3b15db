"""The picture of a journey: a box for each node, and an arrow for each way. It is made of the document, also of a draft
that has faults, and is no part of it. Pure.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple

from abacus.console.decide.layers import BOX, Layers, Point, in_layers

Table = Mapping[str, Any]

ENTRY: Final = ""  # where members enter: no node is called so
_LONGEST: Final = 24  # characters of a line in a box
_WIDEST: Final = 1_000  # a picture that would be wider is drawn sideways, if that is narrower
_MOST_WAYS: Final = 3  # of one arrow, in words
_NOTHING: Final = "nothing yet"
_CONTEXT: Final = "context."  # whose fields are said by their names


class Leads(NamedTuple):
    """A node to which another one leads, with the words of all ways from there to it."""

    words: Sequence[str]
    to: str


class Counts(NamedTuple):
    """Members who are waiting at a node now, and who went on from it."""

    waiting: int
    passed: int


@dataclass(frozen=True)
class Stop:
    """A node as a list tells it. `kind` is empty where nothing says what happens there; `does` is that in a few words.
    `wrong` is what is to mend.
    """

    name: str
    kind: str
    does: str
    leads: Sequence[Leads]
    mark: str = ""
    counts: Counts | None = None
    wrong: Sequence[str] = ()


@dataclass(frozen=True)
class Box:
    """A node as it is drawn, from its upper left corner; its words are short enough for it."""

    stop: Stop
    x: float
    y: float
    title: str
    does: str
    note: str


@dataclass(frozen=True)
class Arrow:
    """A way as it is drawn: `path` is what SVG has for `d`, and the words stand at a point of it."""

    path: str
    words: str
    at: Point
    is_back: bool


@dataclass(frozen=True)
class Picture:
    """The entry and the nodes, as boxes with arrows and as a list, layer by layer."""

    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    width: int
    height: int
    box: tuple[float, float] = BOX

    @property
    def stops(self) -> Sequence[Stop]:
        return [each.stop for each in self.boxes]


@dataclass(frozen=True)
class Marks:
    """What stands at nodes besides, by their names: a word such as `new`, counts of members, and faults."""

    words: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Counts] = field(default_factory=dict)
    wrong: Mapping[str, Sequence[str]] = field(default_factory=dict)


NO_MARKS: Final = Marks()


def picture_of(document: Table, marks: Marks = NO_MARKS) -> Picture:
    """Whatever faults the document has."""
    nodes = _table(document.get("nodes"))
    begin = document.get("begin")
    stops = {ENTRY: Stop(ENTRY, "entry", _entered(_table(document.get("entry"))), _merged([("", begin)], nodes))}
    for name in _in_order(begin, nodes):
        node = _table(nodes[name])
        stops[name] = Stop(
            name,
            next((kind for kind in _WORDS if kind in node), ""),
            what_happens(node),
            _merged(list(_ways(node)), nodes),
            mark=marks.words.get(name, ""),
            counts=marks.counts.get(name),
            wrong=marks.wrong.get(name, ()),
        )
    layers = _layers({name: [each.to for each in stop.leads] for name, stop in stops.items()})
    return Picture(
        [_box(stops[name], layers) for name in _read(stops, layers)],
        [_arrow(name, each, layers) for name, stop in stops.items() for each in stop.leads],
        round(layers.width),
        round(layers.height),
    )


def _read(names: Iterable[str], layers: Layers) -> list[str]:
    """As a person reads the picture: layer by layer."""

    def along(name: str) -> tuple[float, float]:
        at = layers.places[name]
        return (at.x, at.y) if layers.sideways else (at.y, at.x)

    return sorted(names, key=along)


def _layers(leads: Mapping[str, Sequence[str]]) -> Layers:
    down = in_layers(leads)
    if down.width <= _WIDEST:
        return down
    return min(down, in_layers(leads, sideways=True), key=lambda layers: layers.width)


def compared(before: Table | None, after: Table) -> Marks:
    """Which nodes are new or changed against a version before. There is nothing to compare the first version with."""
    if before is None:
        return NO_MARKS
    old, new = _table(before.get("nodes")), _table(after.get("nodes"))
    words = {
        name: "new" if name not in old else "changed"
        for name, node in new.items()
        if name not in old or old[name] != node
    }
    return Marks(words=words)


def what_happens(node: Table) -> str:
    """At a node, in a few words."""
    kind = next((kind for kind in _WORDS if kind in node), "")
    return _WORDS[kind](node[kind]) if kind else _NOTHING


def _done(do: Any) -> str:
    return ", ".join(_deed(name, value) for name, value in _table(do).items()) or _NOTHING


def _deed(name: str, value: Any) -> str:
    inside = _table(value)
    match name:
        case "award" if "points" in inside:
            return f"award {_number(inside['points'])} points"
        case "tell":
            return " ".join(["tell", *(f"“{each}”" for each in _titles(inside))])
        case "grant":
            return f"grant {' '.join(f'the {what} {which}' for what, which in inside.items())}"
        case "start" | "end":
            return f"{name} {inside.get('journey', 'a journey')}"
        case "publish":
            return f"publish {inside.get('type', 'an event')}"
        case _:
            return f"{name} {value}" if isinstance(value, str) else str(name)


def _titles(message: Table) -> Sequence[str]:
    """That of a message, in English where it has that: what it says first, and is called on a telephone."""
    texts = [text for text in (message.get("en"), *message.values()) if isinstance(text, str) and text.strip()]
    return [text.strip().splitlines()[0].strip() for text in texts[:1]]


def _wait(value: Any) -> str:
    wait = _table(value)
    if "for" in wait:
        until = f"waits {wait['for']}"
    elif "at" in wait:
        until = f"until {wait['at']}" + (f" on {wait['weekday']}" if "weekday" in wait else "")
    else:
        side = next((f"{wait[each]} {each} " for each in ("before", "after") if each in wait), "")
        until = f"until {side}{str(wait.get('until', 'then')).removeprefix(_CONTEXT)}"
    other = "or an event" if "event" in wait else "or a rule holds" if "rule" in wait else ""
    return f"{until} {other}".strip()


def _entered(entry: Table) -> str:
    if isinstance(entry.get("on"), list | tuple):
        return "by " + ", ".join(str(each).rpartition("/")[2] for each in entry["on"])
    if "segment" in entry:
        return f"from {entry['segment']}"
    if "life" in entry:
        return str(entry["life"])
    return "by the API" if "api" in entry else "nobody yet"


def _ways(node: Table) -> Iterator[tuple[str, Any]]:
    """As `Node.part.ways` names them."""
    branch, split = node.get("branch"), node.get("split")
    for place, each in enumerate(branch if isinstance(branch, list | tuple) else (), start=1):
        yield str(place), _table(each).get("next")
    for each in split if isinstance(split, list | tuple) else ():
        arm = _table(each)
        yield f"{arm.get('arm', '')} {arm.get('share', '')} %", arm.get("next")
    wait = _table(node.get("wait"))
    yield "event" if "event" in wait else "holds" if "rule" in wait else "", node.get("next")
    yield "otherwise", node.get("otherwise")


def _merged(ways: Sequence[tuple[str, Any]], nodes: Collection[str]) -> list[Leads]:
    """One for each node that is there: several ways may lead to it."""
    words: dict[str, list[str]] = {}
    for said, to in ways:
        if isinstance(to, str) and to in nodes:
            words.setdefault(to, []).extend([said] if said else [])
    return [Leads(said, to) for to, said in words.items()]


def _in_order(begin: Any, nodes: Table) -> list[str]:
    """From the first node on, by their distance; behind these what nothing reaches."""
    found = dict.fromkeys([begin] if isinstance(begin, str) and begin in nodes else [])
    waiting = list(found)
    for name in waiting:
        for each in _merged(list(_ways(_table(nodes[name]))), nodes):
            if each.to not in found:
                found[each.to] = None
                waiting.append(each.to)
    return [*found, *(str(name) for name in nodes if name not in found)]


def _box(stop: Stop, layers: Layers) -> Box:
    x, y = layers.places[stop.name]
    title = "Members enter" if stop.kind == "entry" else stop.name
    return Box(stop, round(x - BOX[0] / 2, 1), round(y - BOX[1] / 2, 1), _short(title), _short(stop.does), _note(stop))


def _note(stop: Stop) -> str:
    if stop.wrong:
        return f"{len(stop.wrong)} to mend"
    if stop.mark or stop.counts is None:
        return stop.mark
    wait = "waits" if stop.counts.waiting == 1 else "wait"
    waiting = f"{_rounded(stop.counts.waiting)} {wait}, " if stop.counts.waiting or stop.kind == "wait" else ""
    return f"{waiting}{_rounded(stop.counts.passed)} passed" if stop.kind != "exit" else ""


def _rounded(count: int) -> str:
    """1234 as 1.2k: a box has little room."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + letter
    return str(count)


def _arrow(name: str, leads: Leads, layers: Layers) -> Arrow:
    way = name, leads.to
    points = layers.lines[way]
    said = ", ".join(leads.words[:_MOST_WAYS]) + (" …" if len(leads.words) > _MOST_WAYS else "")
    first, second = (points[-1], points[-2]) if way in layers.back else (points[0], points[1])
    at = Point(round((first.x + second.x) / 2, 1), round((first.y + second.y) / 2, 1))
    return Arrow(_curved(points, sideways=layers.sideways), said, at, way in layers.back or name == leads.to)


def _curved(points: Sequence[Point], *, sideways: bool) -> str:
    """Lines leave and reach their nodes straight, and bend between two layers."""
    parts = [f"M{points[0].x:.1f} {points[0].y:.1f}"]
    for one, other in pairwise(points):
        if one.x == other.x or one.y == other.y:
            parts.append(f"L{other.x:.1f} {other.y:.1f}")
        elif sideways:
            half = (one.x + other.x) / 2
            parts.append(f"C{half:.1f} {one.y:.1f} {half:.1f} {other.y:.1f} {other.x:.1f} {other.y:.1f}")
        else:
            half = (one.y + other.y) / 2
            parts.append(f"C{one.x:.1f} {half:.1f} {other.x:.1f} {half:.1f} {other.x:.1f} {other.y:.1f}")
    return " ".join(parts)


def _several(value: Any, word: str) -> str:
    number = len(value) if isinstance(value, list | tuple) else 0
    return f"{number} {word}{'' if number == 1 else 's'}"


_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "wait": _wait,
    "branch": lambda branch: _several(branch, "rule"),
    "split": lambda split: f"{_several(split, 'arm')}, by chance",
    "rate": lambda rate: f"{_number(rate)} a minute",
    "do": _done,
    "exit": lambda reason: f"leaves: {reason}",
}


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _table(value: Any) -> Table:
    return value if isinstance(value, Mapping) else {}

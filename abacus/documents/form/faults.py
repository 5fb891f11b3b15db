"""Faults at their fields: of each fault the part of the form that is nearest to its path. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.fields import Fault
from abacus.documents.form.parts import Shown
from abacus.documents.form.path import as_faults_have_it, found, read
from abacus.documents.form.types import Table

_MISSING: Final = "missing"
FILL_IN: Final = "Fill this in."


class Placed(NamedTuple):
    """What is wrong, by the paths of parts as the form writes them, and what belongs to no part."""

    at: Mapping[str, Sequence[str]]
    elsewhere: Sequence[Fault]


class ToMend(NamedTuple):
    """A fault as a list names it: the part that it belongs to, by what people call it, and where that stands."""

    label: str
    anchor: str
    message: str


def to_mend(found: Placed, shown: Shown) -> list[ToMend]:
    """The faults that belong to a part, in the order of the form."""
    return [
        ToMend(named.label, named.anchor, message)
        for path, named in shown.named().items()
        for message in found.at.get(path, ())
    ]


def placed(faults: Iterable[Fault], shown: Shown, document: Table) -> Placed:
    """An empty field is told to be filled in, whatever its reader says of the emptiness."""
    places = {}
    for each in shown.places():
        path = read(each)
        if each and path is not None:
            places[as_faults_have_it(path)] = each
    at: dict[str, list[str]] = {}
    elsewhere = []
    for fault in faults:
        place = _nearest(fault.path, places)
        if place is None:
            elsewhere.append(fault)
            continue
        there = found(document, read(places[place]) or ())
        is_empty = place == fault.path and (there == "" or fault.message == _MISSING)
        said = FILL_IN if is_empty else fault.message
        if not is_empty and place != fault.path:
            said = f"{fault.path.removeprefix(place).lstrip('.')}: {fault.message}"
        messages = at.setdefault(places[place], [])
        if said not in messages:
            messages.append(said)
    return Placed(at, elsewhere)


def _nearest(path: str, places: Mapping[str, str]) -> str | None:
    holding = [each for each in places if path == each or path.startswith((f"{each}.", f"{each}["))]
    return max(holding, key=len, default=None)

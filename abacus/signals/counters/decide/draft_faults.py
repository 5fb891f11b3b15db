"""Whether a draft can become a version beside the definitions that are published. Pure."""

from collections.abc import Iterable
from typing import Final

from abacus.core.fields import Fault
from abacus.signals.counters.decide.definition import Definition

MAX_DEFINITIONS: Final = 5_000


def faults_beside(draft: Definition, published: Iterable[Definition]) -> list[Fault]:
    """What stands in the way. `published` has the latest version of each definition, the retired ones too: their keys
    can still be asked for.
    """
    faults: list[Fault] = []
    known = {each.id: each for each in published}
    earlier = known.pop(draft.id, None)
    if earlier is not None and earlier.name != draft.name:
        faults.append(
            Fault("name", f"{draft.id} is {earlier.name}, and stays so; write another id for another counter")
        )
    if earlier is None and len(known) >= MAX_DEFINITIONS:
        faults.append(
            Fault("id", f"{len(known)} definitions are published, and every process keeps all: publish no more")
        )
    for other in known.values():
        if other.name == draft.name:
            faults.append(Fault("name", f"{draft.name} is the name of {other.id} already"))
        faults += _clash(draft, other)
    return faults


def _clash(draft: Definition, other: Definition) -> list[Fault]:
    """Keys have to tell which counter they are of."""
    mine, theirs = draft.template.beginning, other.template.beginning
    if not (mine.startswith(theirs) or theirs.startswith(mine)):
        return []
    words = f"begins with {mine!r} and {other.name} with {theirs!r}: one is the beginning of the other"
    return [Fault("template", f"{draft.name} {words}, so a key could be of both")]

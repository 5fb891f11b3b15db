"""A draft beside the definitions that are published: its faults, and its changes in words. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from abacus.core.fields import Fault
from abacus.documents.decide.version_words import changed_parts
from abacus.signals.counters.decide.definition import Definition, to_document

_ANEW: Final = "a new version counts from 0, under the same keys; what the version before counted cannot be asked for"


def describe_changes(old: Definition | None, new: Definition) -> list[str]:
    """One line a change; none when the old definition is in force and says the same. Without an old one, everything is
    new.
    """
    if old is None:
        return changed_parts(new.name, None, described(new))
    changes = changed_parts(new.name, described(old), described(new))
    if old.retired:
        changes.append("counts again: the version before is retired")
    return [*changes, _ANEW] if changes else []


def described(definition: Definition) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(definition).items():
        if name == "keep" and isinstance(value, Mapping):
            yield from ((f"keep.{grain}", "none" if words == "0" else words) for grain, words in value.items())
        elif name == "on" and isinstance(value, list):
            yield name, ", ".join(value)
        else:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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

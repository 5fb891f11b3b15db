"""The changes that a new version of a definition makes, in words for the people who publish it. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from abacus.documents.decide.change_words import all_parts, changed_parts
from abacus.signals.counters.decide.definition import Definition, to_document

_ANEW: Final = "a new version counts from 0, under the same keys; what the version before counted cannot be asked for"


def describe_changes(old: Definition | None, new: Definition) -> list[str]:
    """One line a change; none when the old definition is in force and says the same. Without an old one, everything is
    new.
    """
    now = dict(described(new))
    if old is None:
        return all_parts(new.name, now)
    changes = changed_parts(dict(described(old)), now)
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

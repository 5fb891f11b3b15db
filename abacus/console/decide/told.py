"""An approval as a person reads it: a title, what changes from what to what, and why one person is not enough. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abacus.console.decide.fields import FieldLine, lines_of
from abacus.console.decide.journey_picture import Picture
from abacus.console.decide.named import Named
from abacus.documents.form.changes import changes
from abacus.documents.form.sentences import Sentence
from abacus.documents.form.types import Form, Table


@dataclass(frozen=True, kw_only=True)
class Told:
    """`changes` have each value before and after; `against` names what they are compared with. `everything` is all that
    takes effect, as labelled rows. `then` says what the approval does.
    """

    why: str = ""
    sentences: Sequence[Sentence] = ()
    facts: Sequence[tuple[str, str]] = ()
    changes: Sequence[FieldLine] = ()
    against: str | None = None
    about: Sequence[Named] = ()
    everything: Sequence[FieldLine] = ()
    picture: Picture | None = None
    then: str = "What stands above takes effect at once."


def changes_of(form: Form, before: Table | None, after: Table) -> Sequence[FieldLine]:
    """What is different between two documents of a form, by the labels of its fields; nothing where there is none
    before.
    """
    if before is None:
        return ()
    return [FieldLine(each.where, each.now, each.was, changed=True) for each in changes(form, before, after)]


def everything_of(document: Any) -> Sequence[FieldLine]:
    return [in_words(line) for line in lines_of(document)]


def changed(name: str, before: object, after: object) -> FieldLine:
    """A value before and after, as people write it."""
    was, now = text_of(before), text_of(after)
    return FieldLine(name, now, was, changed=was != now)


def in_words(line: FieldLine) -> FieldLine:
    """`steps[1].do[2].award` as "steps 1, do 2, award"."""
    place = line.place.replace("_", " ").replace("[", " ").replace("]", "").replace(".", ", ")
    return FieldLine(place, line.value, line.before, line.changed)


def text_of(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case _:
            return str(value)

"""An entry of the log as a sentence that people say, with what it names. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.console.decide.deed_words import DONE, OF_APPROVALS, OF_DRAFTS, UNTITLED
from abacus.console.decide.fields import FieldLine, lines_of
from abacus.console.decide.named import Named, named_in
from abacus.console.decide.names import named
from abacus.console.decide.told import in_words, text_of
from abacus.people.types.deed import Deed, Entry

APPROVAL: Final = "approval"
DRAFT: Final = "draft"
_NOBODY: Final[Mapping[str, str]] = MappingProxyType({})
_PART: Final = re.compile(r"\[([^\]]*)\]|\{(\w+)\}|([^\[{]+)")
_FIELD: Final = re.compile(r"\{(\w+)\}")
_DAYS: Final = frozenset({"since", "start"})
_TAIL: Final = "[, approved by {approved_by}][: “{reason}”]"


class Piece(NamedTuple):
    """A part of a sentence. What has a page, or might have one, has its kind and its name too."""

    text: str
    kind: str = ""
    name: str = ""


@dataclass(frozen=True)
class DeedSentence:
    """What an actor did, to be said behind its name; and the details of the entry that the sentence leaves out."""

    says: Sequence[Piece]
    besides: Sequence[FieldLine]


@dataclass(frozen=True)
class Change:
    """Deeds of one actor to one subject, the newest of them then."""

    at: datetime
    actor: str
    says: Sequence[Piece]
    country: str | None
    times: int = 1


def sentence_of(entry: Entry, titles: Mapping[str, str] = _NOBODY) -> DeedSentence:
    """`titles` are titles of approvals by their ids, as a sentence has them."""
    details: Mapping[str, Any] = json.loads(entry.details) or {}
    subject = named_in(entry.subject)
    key, pattern = _pattern(entry, details, subject)
    values = {name: _detail(name, value) for name, value in details.items()}
    if "points" in details:
        values["size"] = Piece(text_of(abs(details["points"])))
    values["about"] = _about(subject, details, titles)
    pieces = list(_said(pattern + _TAIL, values))
    used = {"did", key, *(each.field for each in pieces)}
    if subject.kind == APPROVAL:
        used |= {"kind", "of"}
    if subject.kind == DRAFT:
        used.add("title")
    if key == details.get("kind"):
        used.add("kind")
    if "size" in used:
        used.add("points")
    left = {name: value for name, value in details.items() if name not in used}
    return DeedSentence([each.piece for each in pieces], [in_words(each) for each in lines_of(left)] if left else ())


def changes_of(entries: Iterable[Entry], own: str, titles: Mapping[str, str] = _NOBODY) -> list[Change]:
    """What others did, the newest first; `own` is the source of the reader. Drafts have changed nothing yet."""
    found: dict[tuple[str, str, str, object], Change] = {}
    for each in entries:
        if each.actor == own or each.subject.startswith("draft:"):
            continue
        key = (each.actor, each.deed, each.subject, (json.loads(each.details) or {}).get("did"))
        if key in found:
            found[key] = replace(found[key], times=found[key].times + 1)
        else:
            found[key] = Change(each.at, each.actor, sentence_of(each, titles).says, each.country)
    return list(found.values())


def approvals_in(entries: Iterable[Entry]) -> list[str]:
    """The ids of the approvals that entries are about."""
    subjects = (named_in(each.subject) for each in entries)
    return list(dict.fromkeys(each.name for each in subjects if each.kind == APPROVAL))


def _pattern(entry: Entry, details: Mapping[str, Any], subject: Named) -> tuple[str, str]:
    """The words, and what they were found by."""
    did = str(details.get("did", ""))
    if subject.kind == APPROVAL and did in OF_APPROVALS:
        return did, OF_APPROVALS[did]
    if subject.kind == DRAFT and did in OF_DRAFTS:
        return did, OF_DRAFTS[did]
    known = DONE.get(Deed(entry.deed), {}) if entry.deed in set(Deed) else {}
    flags = [name for name, value in details.items() if value is True]
    found_by = filter(None, (did, str(details.get("kind", "")), *flags, subject.kind or subject.name))
    for key in (*found_by, ""):
        if key in known:
            return key, known[key]
    return did, f"did {' '.join(filter(None, (entry.deed, did))).replace('-', ' ')} to {{about}}"


def _about(subject: Named, details: Mapping[str, Any], titles: Mapping[str, str]) -> Piece:
    kind, name = subject
    match kind:
        case "approval":
            of = UNTITLED.get(str(details.get("kind")), "what needs a second person")
            return Piece(titles.get(name, of.format(of=details.get("of", "a country"))), kind, name)
        case "draft":
            return Piece(str(details.get("title") or "of a document"), kind, name)
        case "job":
            return Piece(name.replace("-", " "))
        case "assumption":
            return Piece(name.replace(":", " in "))
        case _:
            return Piece(name, kind, name if kind else "")


def _detail(name: str, value: object) -> Piece:
    if name == "points" and isinstance(value, int):
        return Piece(f"{value:+,}")
    if name in _DAYS:
        return Piece(str(value).partition("T")[0])
    if name == "approved_by":
        return Piece(named(str(value)), *named_in(str(value)))
    return Piece(", ".join(map(str, value)) if isinstance(value, list) else text_of(value))


class _Said(NamedTuple):
    piece: Piece
    field: str = ""


def _said(pattern: str, values: Mapping[str, Piece]) -> Iterator[_Said]:
    for optional, field, text in _PART.findall(pattern):
        if optional:
            said, _, otherwise = optional.partition("|")
            is_known = all(each in values and values[each].text for each in _FIELD.findall(said))
            yield from _said(said if is_known else otherwise, values)
        elif field:
            yield _Said(values[field], field)
        else:
            yield _Said(Piece(text))

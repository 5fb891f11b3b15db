"""How members enter a journey, and how often, as its document writes it. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, quoted, string
from abacus.documents.decide.heading import Term
from abacus.engage.journeys.decide.entry import (
    EXPIRING,
    ONCE,
    Again,
    ByCall,
    Entry,
    How,
    LifeMoment,
    OfLife,
    OfSegment,
    OnEvent,
    ReEntry,
)
from abacus.engage.journeys.decide.moment_reader import read_span, span_text
from abacus.engage.journeys.decide.moments import NO_TIME
from abacus.engage.journeys.decide.sides import context_type
from abacus.engage.journeys.decide.words import JourneyWords
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.names import check_named

MAX_CONTEXT: Final = 50  # fields
MOST_VISITS: Final = 1_000
MOST_AT_ONCE: Final = 100
_HOW: Final = ("on", "segment", "life", "api")
_VARIABLE: Final = "var."
_CONTEXT: Final = "context."
_MOST_DAYS: Final = 366
_NONE: Final[Mapping[str, VariableType]] = {}
_COUNTED: Final = (VariableType.TEXT, VariableType.INTEGER)

_type: Final = fields.one_of(VariableType, "a type")


def read_entry(top: Fields, term: Term, words: JourneyWords) -> Entry:
    """The words know from then on what members bring along."""
    table = top.table("entry")
    how = _how(table, term, words)
    words.context = _context(top, how)
    words.on = () if how is None else Entry(how).on
    when = words.rule(table, "when")
    table.refuse_unknown()
    return Entry(how or ByCall(), when)


def entry_document(entry: Entry, context: Mapping[str, VariableType]) -> dict[str, object]:
    """As `read_entry` reads it, beside the fields of the context."""
    document = _how_document(entry.how)
    if entry.when is not None:
        document["when"] = dict(entry.when)
    if context and isinstance(entry.how, ByCall):
        return {"entry": document, "context": {name: type_.value for name, type_ in context.items()}}
    return {"entry": document}


def read_re_entry(top: Fields, words: JourneyWords) -> ReEntry:
    table = top.table("re_entry", optional=True)
    if table.is_absent:
        return ONCE
    again = table.read("again", fields.one_of(Again, "a word for that"), Again.NEVER)
    at_most, at_once, span, side = 1, 1, NO_TIME, None
    if again is not Again.NEVER:
        at_most = table.read("at_most", fields.whole(1, MOST_VISITS), 1)
    if again is Again.AFTER:
        span = table.read("span", read_span, NO_TIME)
    if again is Again.EACH:
        at_once = table.read("at_once", fields.whole(1, MOST_AT_ONCE), 1)
        side = table.read("of", lambda value: _side(value, words), None)
    table.refuse_unknown()
    return ReEntry(again, at_most, at_once, span, side)


def re_entry_document(re_entry: ReEntry) -> dict[str, object]:
    """As `read_re_entry` reads it."""
    document: dict[str, object] = {"again": re_entry.again.value}
    if re_entry.again is not Again.NEVER:
        document["at_most"] = re_entry.at_most
    if re_entry.again is Again.AFTER:
        document["span"] = span_text(re_entry.span)
    if re_entry.again is Again.EACH:
        document |= {"at_once": re_entry.at_once, "of": re_entry.side}
    return document


def _how(table: Fields, term: Term, words: JourneyWords) -> How | None:
    named = [name for name in _HOW if name in table.values]
    if len(named) != 1:
        for name in (*named, "at", "and_later", "days"):
            table.read_if_there(name, lambda value: value, None)
        if not table.is_absent:
            table.note("on", f"the entry names {len(named)} ways in; write one of {', '.join(_HOW)}")
        return None
    match named[0]:
        case "on":
            on = words.types(table, "on")
            return OnEvent(on) if on else None
        case "segment":
            return _segment(table, term, words)
        case "life":
            return _life(table)
        case _:
            table.read("api", _true, None)
            return ByCall()


def _segment(table: Fields, term: Term, words: JourneyWords) -> How | None:
    segment = table.read("segment", string, None)
    at = table.read_if_there("at", fields.moment, None)
    and_later = table.read_if_there("and_later", fields.flag, default=False)
    if segment is None:
        return None
    words.judged(
        table, "segment", lambda there: check_named(segment, there.beside.segments, "segment", "abacus segments list")
    )
    if at is not None and not term.starts_at <= at < term.ends_at:
        table.note("at", "is not within the time of the journey, so nobody enters")
    return OfSegment(segment, at, and_later)


def _life(table: Fields) -> How | None:
    moment = table.read("life", fields.one_of(LifeMoment, "a point in a member's life"), None)
    days = 0
    if moment is LifeMoment.POINTS_EXPIRING:
        days = table.read("days", fields.whole(1, _MOST_DAYS), 0)
    return None if moment is None else OfLife(moment, days)


def _how_document(how: How) -> dict[str, object]:
    match how:
        case OnEvent(on):
            return {"on": ["/".join(each) for each in on]}
        case OfSegment(segment, at, and_later):
            document: dict[str, object] = {"segment": segment}
            if at is not None:
                document["at"] = at.isoformat()
            return {**document, "and_later": True} if and_later else document
        case OfLife(moment, days):
            return {"life": moment.value, "days": days} if days else {"life": moment.value}
        case ByCall():
            return {"api": True}


def _context(top: Fields, how: How | None) -> Mapping[str, VariableType]:
    if isinstance(how, OfLife) and how.moment is LifeMoment.POINTS_EXPIRING:
        return EXPIRING
    table = top.table("context", optional=True)
    if table.is_absent:
        return _NONE
    if how is not None and not isinstance(how, ByCall):
        top.note("context", "only members that enter by the API bring a context; write `api = true`")
        return _NONE
    if len(table.values) > MAX_CONTEXT:
        top.note("context", f"{len(table.values)} fields; write at most {MAX_CONTEXT}")
        return _NONE
    return table.entries(_type, VariableType.TEXT)


def _true(value: object) -> None:
    if not fields.flag(value):
        raise Bad("false; write true, or another way in")


def _side(value: object, words: JourneyWords) -> str:
    text = string(value)
    if not text.startswith((_VARIABLE, _CONTEXT)):
        raise Bad(f"{quoted(text)} is neither a variable of the event nor of the context, such as var.order_id")
    if words.around is None:
        return text
    if text.startswith(_CONTEXT):
        type_ = context_type(text.removeprefix(_CONTEXT), words.context)
    else:
        type_ = words.type_of_event(text.removeprefix(_VARIABLE))
    if type_ not in _COUNTED:
        raise Bad(f"{text} is of type {type_}; a text or an integer is wanted")
    return text

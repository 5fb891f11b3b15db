"""The deeds of a journey as its document writes them: deeds of campaigns, and start and end of other journeys. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core.fields import Bad, Fields, mapping, quoted, shown, string
from abacus.engage.actions.decide.deeds import Award, Deed, DeedKind, FixedPoints, Publish, Tell
from abacus.engage.actions.decide.templates import read_templates
from abacus.engage.campaigns.decide.action_reader import deed_document, read_deed
from abacus.engage.campaigns.decide.vocabulary import Words
from abacus.engage.journeys.decide.node import End, Start
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.sides import context_type
from abacus.engage.journeys.decide.words import JourneyWords
from abacus.signals.events.decide.source import BUILT_IN
from abacus.signals.events.decide.vocabulary import event_type_of
from abacus.signals.events.types import Value, VariableType

START: Final = "start"
END: Final = "end"
_KINDS: Final = (*DeedKind, START, END)
_VARIABLE: Final = "var."
_CONTEXT: Final = "context."
_TYPES: Final[Mapping[VariableType, type]] = {
    VariableType.TEXT: str,
    VariableType.DECIMAL: str,
    VariableType.INTEGER: int,
    VariableType.BOOLEAN: bool,
}


def read_do(node: Fields, words: JourneyWords) -> Deed | Start | End | None:
    """The deed of a node, in a table of its own. Nothing where it has a fault."""
    table = node.table("do")
    named = [kind for kind in _KINDS if kind in table.values]
    deed: Deed | Start | End | None = None
    if len(named) == 1:
        deed = _read(named[0], table, words)
    elif not table.is_absent:
        for kind in named:
            table.read_if_there(kind, lambda value: value, None)
        node.note("do", f"names {len(named)} deeds; write one of {', '.join(_KINDS)}")
    table.refuse_unknown()
    return deed


def do_document(deed: Deed | Start | End) -> dict[str, object]:
    """As `read_do` reads it."""
    match deed:
        case Start(journey, constants, copied):
            document: dict[str, object] = {"journey": journey}
            context = {**constants, **copied}
            return {START: {**document, "context": context} if context else document}
        case End(journey):
            return {END: {"journey": journey}}
        case Publish(type_, constants, copied):
            document = {"type": "/".join(type_)}
            variables = {**constants, **copied}
            return {deed.kind.value: {**document, "var": variables} if variables else document}
        case _:
            return {deed.kind.value: deed_document(deed)}


def _read(kind: str, table: Fields, words: JourneyWords) -> Deed | Start | End | None:
    match kind:
        case "start":
            return _start(table.table(kind), words)
        case "end":
            return _end(table.table(kind), words)
        case DeedKind.TELL:
            return _tell(table, words)
        case DeedKind.PUBLISH:
            return _publish(table.table(kind), words)
        case _:
            return _of_campaigns(DeedKind(kind), table, words)


def _of_campaigns(kind: DeedKind, table: Fields, words: JourneyWords) -> Deed | None:
    around = None if words.around is None else words.around.beside
    deed = read_deed(kind, table, Words(words.on, around, words.faults, [], words.country))
    if isinstance(deed, Award) and not isinstance(deed.worth, FixedPoints) and not words.on and around is not None:
        table.note(kind.value, "members enter by no event, so there is no amount that points follow from; write points")
    return deed


def _tell(table: Fields, words: JourneyWords) -> Deed | None:
    templates = table.read(DeedKind.TELL.value, read_templates, None)
    if templates is None:
        return None
    if words.around is not None and (missing := [each for each in words.languages if each not in templates]):
        table.note(DeedKind.TELL.value, f"has no {', '.join(missing)}; each message is in {', '.join(words.languages)}")
    for locale, template in templates.items():
        words.try_message(f"{table.path_of(DeedKind.TELL.value)}.{locale}", template, locale)
    return Tell(templates)


def _publish(inner: Fields, words: JourneyWords) -> Deed | None:
    sources = None if words.around is None else words.around.beside.sources
    type_ = inner.read("type", lambda value: event_type_of(string(value), sources), None)
    values: Mapping[str, object] = inner.read_if_there("var", mapping, {})
    inner.refuse_unknown()
    if type_ is None:
        return None
    types: Mapping[str, VariableType] = {}
    if sources is not None:
        if type_[0] in BUILT_IN:
            inner.note("type", f"{type_[0]} are Abacus' own events; publish one of another source")
        types = sources[type_[0]].types[type_[1]]
    return Publish(type_, *_values(inner, "var", values, types, words))


def _start(inner: Fields, words: JourneyWords) -> Start | None:
    name = inner.read("journey", string, "")
    values: Mapping[str, object] = inner.read_if_there("context", mapping, {})
    inner.refuse_unknown()
    if name == words.name:
        inner.note("journey", "a journey cannot start itself")
    types: Mapping[str, VariableType] = {}

    def check(around: JourneyPublications) -> None:
        nonlocal types
        head = around.journeys.get(name)
        if head is None:
            raise Bad(f"no journey {quoted(name)} is there; `abacus journeys list` prints all")
        if head.country != words.country:
            raise Bad(f"{name} is a journey of {head.country}, this is of {words.country}")
        if head.context is None:
            raise Bad(f"members do not enter {name} by the API; only such a journey can be started")
        types = head.context
        if missing := sorted(types.keys() - values.keys()):
            raise Bad(f"the context of {name} has {', '.join(missing)} too; write its value under `context`")

    if name and name != words.name:
        words.judged(inner, "journey", check)
    return Start(name, *_values(inner, "context", values, types, words)) if name else None


def _end(inner: Fields, words: JourneyWords) -> End | None:
    name = inner.read("journey", string, "")
    inner.refuse_unknown()

    def check(around: JourneyPublications) -> None:
        if name == words.name:
            raise Bad("a journey ends for its member at an exit; this names another journey")
        if name not in around.journeys:
            raise Bad(f"no journey {quoted(name)} is there; `abacus journeys list` prints all")

    if name:
        words.judged(inner, "journey", check)
    return End(name) if name else None


def _values(
    inner: Fields, field: str, values: Mapping[str, object], types: Mapping[str, VariableType], words: JourneyWords
) -> tuple[Mapping[str, Value], Mapping[str, str]]:
    """The constants, and what is copied from the event or the context, by its whole text."""
    constants: dict[str, Value] = {}
    copied: dict[str, str] = {}
    for name, value in sorted(values.items()):
        try:
            wanted = _wanted(name, types) if words.around is not None else None
            if isinstance(value, str) and value.startswith((_VARIABLE, _CONTEXT)):
                copied[name] = value
                if wanted is not None:
                    _check_type(value, wanted, words)
            else:
                constants[name] = _constant(value, wanted)
        except Bad as bad:
            inner.note(f"{field}.{name}", str(bad))
    return constants, copied


def _wanted(name: str, types: Mapping[str, VariableType]) -> VariableType:
    if name not in types:
        raise Bad(f"there is no such field; there are {', '.join(types)}" if types else "there are no fields")
    return types[name]


def _check_type(text: str, wanted: VariableType, words: JourneyWords) -> None:
    """Raises `Bad`."""
    if text.startswith(_CONTEXT):
        type_ = context_type(text.removeprefix(_CONTEXT), words.context)
    else:
        type_ = words.type_of_event(text.removeprefix(_VARIABLE))
    if type_ is not wanted:
        raise Bad(f"{text} is of type {type_}, and {wanted} is wanted")


def _constant(value: object, wanted: VariableType | None) -> Value:
    if wanted is not None and type(value) is not _TYPES.get(wanted):
        raise Bad(f"{shown(value)}; a value of type {wanted} is wanted")
    if not isinstance(value, str | int):
        raise Bad(f"{shown(value)}; write a text, an integer or a boolean")
    return value

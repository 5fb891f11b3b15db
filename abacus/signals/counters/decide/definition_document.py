"""Definitions as people write them: read with every fault and its path. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, shown, string
from abacus.signals.counters.decide.definition import NAME_PATTERN, USUAL_NEW_KEYS, VARIABLE, Definition, to_document
from abacus.signals.counters.decide.keep import read_keep
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.decide.template import Template, check_in_template, read_template
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary, event_type_of
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.names import ANY_NAME
from abacus.signals.rules.decide.place_sides import places_of
from abacus.signals.rules.decide.sides import of_event

MAX_ID: Final = 999_999
MAX_TYPES: Final = 50  # of events that one counter counts
MAX_DECIMALS: Final = 6
MAX_NEW_KEYS: Final = 1_000_000_000
USUAL_DECIMALS: Final = 2  # of a decimal variable


_name: Final = fields.matching(
    re.compile(NAME_PATTERN),
    "is not a name; write at most 64 small letters, digits and underscores, beginning with a letter (rides)",
)


def _new_keys(value: object) -> int | None:
    return fields.whole(1, MAX_NEW_KEYS)(value)


def parse_definition(
    document: Mapping[str, object], sources: Mapping[str, Source] | None, regions: Collection[str] = ANY_NAME
) -> Definition:
    """The draft of a document, be it from TOML or from JSON, judged by the published sources and the regions that there
    are; without any sources, it is not judged by them. Raises `DocumentFaults` with every fault that it has.
    """
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    id_ = top.read("id", fields.whole(1, MAX_ID), 0)
    name = top.read("name", _name, "")
    template = top.read("template", read_template, None)
    on = _on(top.read("on", _texts, ()), sources, faults)
    one: int | str = 1
    add = top.read_if_there("add", _add, one)
    decimals = top.read_if_there("decimals", fields.whole(0, MAX_DECIMALS), None)
    when = top.read_if_there("when", fields.mapping, None)
    timezone = top.read_if_there("timezone", fields.time_zone, "UTC")
    keep = read_keep(top.table("keep", optional=True))
    usual = USUAL_NEW_KEYS if sources is not None else None
    new_keys = top.read_if_there("new_keys_per_day", _new_keys, usual)
    if on and sources is not None:
        vocabulary = Vocabulary(on, sources)
        _judge_template(top, template, vocabulary)
        decimals = _judge_add(top, add, decimals, vocabulary)
        when = _judge_rule(when, vocabulary, regions, faults)
    top.refuse_unknown()
    if faults or template is None:
        raise DocumentFaults(faults)
    return Definition(id_, name, template, on, when, add, decimals or 0, timezone, keep, new_keys)


def restore_definition(
    document: Mapping[str, object], version: int, published_at: datetime, retired_at: datetime | None
) -> Definition:
    """The definition of a document that was published: its sources may be others by now. Raises `DocumentFaults` for
    one that only a newer Abacus can read.
    """
    definition = parse_definition(document, None)
    if definition.when is not None:
        definition = replace(definition, when=restore_document(definition.when))
    return definition.published(version, published_at, retired_at)


def faults_today(definition: Definition, around: CounterPublications) -> tuple[Fault, ...]:
    """Why a published definition does not fit what is around it any more, which may have been published anew since."""
    try:
        parse_definition(to_document(definition), *around)
    except DocumentFaults as error:
        return error.faults
    return ()


def _texts(value: object) -> Sequence[str]:
    if not isinstance(value, list | tuple) or not value:
        raise Bad('write an array of types of events, such as ["rain.drop"] or ["weather/rain.drop"]')
    if len(value) > MAX_TYPES:
        raise Bad(f"{len(value)} types of events; write at most {MAX_TYPES}")
    return [string(each) for each in value]


def _on(texts: Sequence[str], sources: Mapping[str, Source] | None, faults: list[Fault]) -> tuple[EventType, ...]:
    """Each type once; nothing, where one has a fault."""
    on: dict[EventType, None] = {}
    before = len(faults)
    for place, text in enumerate(texts):
        try:
            on[event_type_of(text, sources)] = None
        except Bad as bad:
            faults.append(Fault(f"on[{place}]", str(bad)))
    return tuple(on) if len(faults) == before else ()


def _add(value: object) -> int | str:
    if isinstance(value, str) and value.startswith(VARIABLE):
        return value.removeprefix(VARIABLE)
    if value == 1 and isinstance(value, int) and not isinstance(value, bool):
        return 1
    raise Bad(f'{shown(value)}; write 1, or a variable such as "var.amount"')


def _judge_template(top: Fields, template: Template | None, vocabulary: Vocabulary) -> None:
    for name in template.fields if template else ():
        try:
            check_in_template(name, vocabulary)
        except Bad as bad:
            top.note("template", f"{{{name}}}: {bad}")


def _judge_add(top: Fields, add: int | str, decimals: int | None, vocabulary: Vocabulary) -> int:
    """The decimals that the counts have."""
    kind = VariableType.INTEGER
    if isinstance(add, str):
        try:
            kind = vocabulary.type_of(add)
        except Bad as bad:
            top.note("add", str(bad))
            return 0
    if kind is VariableType.DECIMAL:
        return USUAL_DECIMALS if decimals is None else decimals
    if kind is not VariableType.INTEGER:
        top.note("add", f"var.{add} is of type {kind}; only integers and decimals can be added")
    elif decimals:
        top.note("decimals", "only a decimal variable is counted in decimals; leave it out")
    return 0


def _judge_rule(
    when: Mapping[str, object] | None, vocabulary: Vocabulary, regions: Collection[str], faults: list[Fault]
) -> Mapping[str, object] | None:
    """The rule, as it is written everywhere."""
    if when is None:
        return None
    try:
        return rule_document(parse_rule(when, of_event(vocabulary.any(), places_of(vocabulary, regions))))
    except DocumentFaults as error:
        faults += error.faults
        return None

"""The actions of a campaign as its document writes them. Pure."""

import difflib
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, assert_never, get_args

from abacus.core import fields
from abacus.core.fields import Bad, Fields, mapping, quoted, shown, string
from abacus.core.lengths import length_text, read_clock, read_length
from abacus.core.points import MAX_POINTS, plain
from abacus.engage.actions.decide.deeds import (
    Action,
    Award,
    Call,
    Deed,
    DeedKind,
    FixedPoints,
    Grant,
    Granted,
    MultipleOfEarned,
    OwnFormula,
    Publish,
    Tell,
)
from abacus.engage.actions.decide.templates import read_templates, trial_of
from abacus.engage.campaigns.decide.cycles import EARNED
from abacus.engage.campaigns.decide.vocabulary import Words
from abacus.engage.offers.decide.invited import check_gives
from abacus.engage.rewards.decide.granted import check_grants
from abacus.pricing.decide.figures import multiplier
from abacus.pricing.explanation.types import FactorName
from abacus.signals.events.decide.source import BUILT_IN
from abacus.signals.events.decide.vocabulary import event_type_of
from abacus.signals.events.types import Value, VariableType

_VARIABLE: Final = "var."
_PRICED: Final = ("transactions", "transaction.completed")
_FACTORS: Final = get_args(FactorName)
_TIMES: Final = ("after", "at", "unless", "if_still")


def read_action(table: Fields, words: Words) -> Action | None:
    """Nothing where the deed has a fault."""
    named = [kind for kind in DeedKind if kind.value in table.values]
    deed = read_deed(named[0], table, words) if len(named) == 1 else None
    if len(named) != 1:
        table.note("do", f"names {len(named)} deeds; write one of {', '.join(DeedKind)} in each table")
        for kind in named:
            table.read_if_there(kind.value, lambda value: value, None)
    after = table.read_if_there("after", read_length, None)
    at = table.read_if_there("at", read_clock, None)
    if after is not None and at is not None:
        table.note("at", "beside `after`; write one of them")
    unless = words.rule(table, "unless")
    if_still = words.rule(table, "if_still")
    if (unless or if_still) and after is None and at is None:
        table.note("unless" if unless else "if_still", "the deed is done at once; a guard needs `after` or `at`")
    table.refuse_unknown()
    return None if deed is None else Action(deed, after, at, unless, if_still)


def read_deed(kind: DeedKind, table: Fields, words: Words) -> Deed | None:
    """The deed that a table names. Nothing where it has a fault."""
    return _READERS[kind](table, words)


def action_document(action: Action) -> dict[str, object]:
    """As `read_action` reads it."""
    document = {action.deed.kind.value: deed_document(action.deed)}
    if action.after is not None:
        document["after"] = length_text(action.after)
    if action.at is not None:
        document["at"] = action.at.strftime("%H:%M")
    for name in ("unless", "if_still"):
        if (rule := getattr(action, name)) is not None:
            document[name] = dict(rule)
    return document


def _award(table: Fields, words: Words) -> Deed | None:
    inner = table.table(DeedKind.AWARD.value)
    points = inner.read_if_there("points", fields.whole(1, MAX_POINTS), None)
    multiple = inner.read_if_there("multiple", multiplier, None)
    factors = _factors(inner.table("formula")) if "formula" in inner.values else None
    if "formula" not in inner.values:
        inner.table("formula", optional=True)
    inner.refuse_unknown()
    if sum(name in inner.values for name in ("points", "multiple", "formula")) != 1:
        table.note(DeedKind.AWARD.value, "write one of points, multiple and formula")
        return None
    if points is not None:
        return Award(FixedPoints(points))
    if words.on is not None and any(each != _PRICED for each in words.on):
        table.note(DeedKind.AWARD.value, f"only events of {'/'.join(_PRICED)} have an amount that points follow from")
    if multiple is not None:
        return Award(MultipleOfEarned(multiple))
    return Award(OwnFormula(factors)) if factors else None


def _factors(table: Fields) -> Mapping[FactorName, Decimal]:
    factors: dict[FactorName, Decimal] = {}
    for name in _FACTORS:
        value = table.read_if_there(name, multiplier, None)
        if value is not None:
            factors[name] = value
    if not table.values:
        table.note("eppf", f"no multiplier; write one of {', '.join(_FACTORS)}")
    table.refuse_unknown()
    return factors


def _tell(table: Fields, words: Words) -> Deed | None:
    templates = table.read(DeedKind.TELL.value, read_templates, None)
    for locale, template in (templates or {}).items():
        path = table.path_of(f"{DeedKind.TELL}.{locale}")
        words.trials += [trial_of(path, template, locale, event) for event in words.samples]
    return None if templates is None else Tell(templates)


def _call(table: Fields, words: Words) -> Deed | None:
    name = table.read(DeedKind.CALL.value, string, None)
    if name is not None and words.around is not None and name not in words.around.webhooks:
        table.note(DeedKind.CALL.value, f"no webhook {quoted(name)} is defined; `abacus downstreams list` prints all")
    return None if name is None else Call(name)


def _publish(table: Fields, words: Words) -> Deed | None:
    inner = table.table(DeedKind.PUBLISH.value)
    sources = None if words.around is None else words.around.sources
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
    constants: dict[str, Value] = {}
    copied: dict[str, str] = {}
    for name, value in sorted(values.items()):
        try:
            if isinstance(value, str) and value.startswith(_VARIABLE):
                copied[name] = value.removeprefix(_VARIABLE)
                if sources is not None:
                    _check_copied(copied[name], _type_of(name, types), words)
            else:
                constants[name] = _constant(value, None if sources is None else _type_of(name, types))
        except Bad as bad:
            inner.note(f"var.{name}", str(bad))
    return Publish(type_, constants, copied)


def _grant(table: Fields, words: Words) -> Deed | None:
    inner = table.table(DeedKind.GRANT.value)
    named = [each for each in Granted if each.value in inner.values]
    if len(named) != 1 and not inner.is_absent:
        table.note(DeedKind.GRANT.value, f"write one of {' and '.join(Granted)}")
    names = {each: inner.read(each.value, string, None) for each in named}
    inner.refuse_unknown()
    if len(named) != 1 or (name := names[named[0]]) is None:
        return None
    grant = Grant(named[0], name)
    try:
        _check_grant(grant, words)
    except Bad as bad:
        inner.note(grant.what.value, str(bad))
    return grant


def _check_grant(grant: Grant, words: Words) -> None:
    """Raises `Bad`."""
    if words.around is None:
        return
    if grant.what is Granted.OFFER:
        check_gives(grant.name, words.around.offers, words.country)
        return
    head = check_grants(grant.name, words.around.rewards, words.country)
    if head.gives_points and EARNED in (words.on or ()):
        raise Bad(f"the points of {grant.name} would set the campaign off again")


def _check_copied(name: str, wanted: VariableType, words: Words) -> None:
    type_ = words.type_of(name)
    if type_ is not wanted:
        raise Bad(f"{_VARIABLE}{name} is of type {type_}, and {wanted} is wanted")


def _type_of(name: str, types: Mapping[str, VariableType]) -> VariableType:
    if name not in types:
        near = difflib.get_close_matches(name, types, n=1)
        raise Bad(f"the type has no such variable{f'; did you mean {near[0]}?' if near else ''}")
    return types[name]


def _constant(value: object, type_: VariableType | None) -> Value:
    fits = {
        VariableType.TEXT: str,
        VariableType.DECIMAL: str,
        VariableType.INTEGER: int,
        VariableType.BOOLEAN: bool,
    }
    if type_ is not None and type(value) is not fits.get(type_):
        raise Bad(f"{shown(value)}; a value of type {type_} is wanted")
    if not isinstance(value, str | int):
        raise Bad(f"{shown(value)}; write a text, an integer or a boolean")
    return value


def deed_document(deed: Deed) -> object:
    """As `read_deed` reads it, under the name of its kind."""
    match deed:
        case Award(worth):
            return _award_document(worth)
        case Tell(templates):
            return dict(templates)
        case Call(webhook):
            return webhook
        case Publish(type_, constants, copied):
            document: dict[str, object] = {"type": "/".join(type_)}
            variables = {**constants, **{name: _VARIABLE + of for name, of in copied.items()}}
            return {**document, "var": variables} if variables else document
        case Grant(what, name):
            return {what.value: name}
        case _:
            assert_never(deed)


def _award_document(worth: FixedPoints | MultipleOfEarned | OwnFormula) -> object:
    match worth:
        case FixedPoints(points):
            return {"points": points}
        case MultipleOfEarned(multiple):
            return {"multiple": plain(multiple)}
        case OwnFormula(factors):
            return {"formula": {name: plain(value) for name, value in factors.items()}}
        case _:
            assert_never(worth)


_READERS: Final = {
    DeedKind.AWARD: _award,
    DeedKind.TELL: _tell,
    DeedKind.CALL: _call,
    DeedKind.PUBLISH: _publish,
    DeedKind.GRANT: _grant,
}

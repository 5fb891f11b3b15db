"""A document as sentences: when, if, then, at most; each field says its part. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.documents.form.conditions import GROUPS, OPERATORS, inner, is_group
from abacus.documents.form.types import (
    NO_CHOICES,
    Branch,
    Choices,
    Either,
    Field,
    Form,
    Group,
    OneOf,
    Pick,
    Rows,
    Rule,
    Sort,
    Table,
    Titled,
    held,
)
from abacus.documents.form.values import fits, plain_words, words

_NAMED: Final = re.compile(r"\{([a-z_]*)\}")
_PLURAL: Final = "(s)"


@dataclass(frozen=True)
class Sentence:
    """A line of a document; `depth` says how far inside of others it stands."""

    begins: str
    says: str
    depth: int = 0


def sentences(form: Form, document: Table, choices: Choices = NO_CHOICES) -> list[Sentence]:
    """All that a document says, in the order of its form."""
    return list(_Told(choices).table(form.fields, document, 0))


def said(sort: Sort, value: Any, choices: Choices = NO_CHOICES) -> str:
    """One value in words, be it a rule."""
    match sort:
        case Rule():
            return rule_words(value)
        case Pick(listed):
            return words(sort, value, {each.value: each.words for each in choices.of(listed)})
        case Rows(of) if isinstance(value, list | tuple):
            return ", ".join(said(of, each, choices) for each in value)
        case Either(sorts):
            return said(next((one for _, one in sorts if fits(one, value)), sorts[0][1]), value, choices)
        case Titled():
            return f"“{plain_words(value)}”"
    return words(sort, value)


def rule_words(rule: Any) -> str:
    """A rule on one line."""
    if not isinstance(rule, Mapping) or not rule:
        return "none"
    if is_group(rule):
        operator = rule["operator"]
        if operator == "not":
            return f"not ({', '.join(map(rule_words, inner(rule)))})"
        between = f" {operator} "
        return between.join(f"({rule_words(each)})" if is_group(each) else rule_words(each) for each in inner(rule))
    return _comparison(rule)


class _Told:
    """Tells tables, with the words of what can be chosen."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def table(self, fields: Sequence[Field | OneOf], table: Table, depth: int) -> Iterator[Sentence]:
        for field in held(fields, table):
            if field.name in table:
                yield from self._field(field, table, depth)

    def _field(self, field: Field, table: Table, depth: int) -> Iterator[Sentence]:
        value = table[field.name]
        match field.sort:
            case Rule() if field.begins is not None:
                yield from rule_sentences(value, field.begins, depth)
            case Rows(Group(fields)) if isinstance(value, list | tuple):
                for each in value:
                    if isinstance(each, Mapping):
                        yield from self._row(fields, each, field.begins or "", depth)
            case Group(fields) if isinstance(value, Mapping) and field.says is None:
                text = ", ".join(self._phrases(fields, value)) if field.begins is not None else ""
                if text:
                    yield Sentence(field.begins or "", text, depth)
                yield from self.table(fields, value, depth + 1 if text else depth)
            case _ if field.begins is not None:
                yield Sentence(field.begins, self._phrase(field, table), depth)

    def _row(self, fields: Sequence[Field | OneOf], row: Table, begins: str, depth: int) -> Iterator[Sentence]:
        """The phrases of a row in one sentence, and below it what has sentences of its own."""
        below = list(self.table(fields, row, depth + 1))
        text = ", ".join(self._phrases(fields, row))
        yield Sentence(
            begins, f"{text}:" if any(isinstance(one.sort, Rows) for one in held(fields, row)) else text, depth
        )
        yield from below

    def _phrases(self, fields: Sequence[Field | OneOf], row: Table) -> Iterator[str]:
        for each in fields:
            if isinstance(each, OneOf):
                branch = each.branches[each.branch(row)]
                yield from self._phrases_of_branch(branch, row)
            else:
                yield from self._phrases_of_branch(Branch("", [each]), row)

    def _phrases_of_branch(self, branch: Branch, row: Table) -> Iterator[str]:
        if branch.says is not None:
            yield branch.says
        for field in branch.fields:
            value = row.get(field.name)
            if value is None or field.begins is not None:
                continue
            if field.says is not None:
                yield self._phrase(field, row)
            elif isinstance(field.sort, Group) and isinstance(value, Mapping):
                yield from self._phrases(field.sort.fields, value)

    def _phrase(self, field: Field, table: Table) -> str:
        value = table[field.name]
        own = said(field.sort, value, self._choices)
        if field.says is None:
            return own
        if not isinstance(field.says, str):
            return field.says(value, table)
        text = _NAMED.sub(lambda match: own if not match[1] else plain_words(table.get(match[1])), field.says)
        return text.replace(_PLURAL, "" if str(value) == "1" else "s")


def rule_sentences(rule: Any, begins: str, depth: int) -> Iterator[Sentence]:
    """A rule, each condition on a line of its own."""
    if is_group(rule):
        operator = rule["operator"]
        yield Sentence(begins, GROUPS[operator], depth)
        for place, each in enumerate(inner(rule)):
            yield from rule_sentences(each, operator if place and operator != "not" else "", depth + 1)
    elif isinstance(rule, Mapping):
        yield Sentence(begins, _comparison(rule), depth)


def _comparison(condition: Mapping[str, Any]) -> str:
    operator, rhs = str(condition.get("operator")), condition.get("rhs")
    words_ = f"{condition.get('lhs')} {OPERATORS.get(operator, operator)}"
    if "rhs" not in condition:
        return words_
    if operator == "between" and isinstance(rhs, list | tuple):
        return f"{words_} {' and '.join(map(_constant, rhs))}"
    return f"{words_} {', '.join(map(_constant, rhs)) if isinstance(rhs, list | tuple) else _constant(rhs)}"


def _constant(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else plain_words(value)

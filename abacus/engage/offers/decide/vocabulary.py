"""What the rule of an offer may speak of: the item that is asked about, the member, and what is counted. Pure.

No source declares the variables of an item: a rule that compares one says by its constants which type the variable has.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, is_name, mapping, moment, quoted
from abacus.engage.downstreams.decide.question import service_sides
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, segment_sides
from abacus.signals.facts.decide.counter_sides import CounterSides
from abacus.signals.rules.decide.constants import read_constant
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.sides import FactsKind, Resolver, of_facts
from abacus.signals.rules.decide.types import Operator, Rule, Side

COUNTRY: Final = "country"
ITEMS: Final = FactsKind("the items", {COUNTRY: (COUNTRY, VariableType.TEXT)})
_VARIABLE: Final = "var."
_ELSEWHERE: Final = frozenset({"event", "campaign"})  # origins that the rules of campaigns have
_WIDEST_FIRST: Final = (VariableType.DECIMAL, VariableType.INTEGER, VariableType.TIME, VariableType.BOOLEAN)
_ORDERED: Final = frozenset({Operator.LT, Operator.LTE, Operator.GT, Operator.GTE, Operator.BETWEEN})


def of_offer(rule: object, around: OfferPublications) -> Resolver:
    """The left sides that the document of a rule may have."""
    resolve = of_facts(ITEMS, typed_by_use(rule))

    def of_item(text: str) -> Side:
        if text.partition(".")[0] in _ELSEWHERE:
            raise Bad(f"{quoted(text)} is no fact of a request; write var.NAME for a value of the item")
        return resolve(text)

    return offer_catalog(around).resolver(of_item)


def compiled(when: Mapping[str, object] | None, around: OfferPublications) -> Rule | None:
    """The rule of an offer. Raises `DocumentFaults` where it does not fit what is published."""
    return None if when is None else parse_rule(when, of_offer(when, around))


def offer_catalog(around: OfferPublications) -> Catalog:
    """What is looked up beside the item."""
    return Catalog(
        MEMBER_SIDES,
        segment_sides(around.segments),
        CounterSides(around.counters),
        service_sides(around.externals),
    )


def typed_by_use(rule: object) -> Mapping[str, VariableType]:
    """The variables that the document of a rule compares, each with the type of its constants."""
    used: dict[str, set[VariableType]] = {}
    for condition in _conditions(rule):
        side = condition.get("lhs")
        name = side.removeprefix(_VARIABLE) if isinstance(side, str) else side
        if isinstance(name, str) and name != side and is_name(name):
            used.setdefault(name, set()).update(_types(condition))
    return {
        name: next((each for each in _WIDEST_FIRST if each in types), VariableType.TEXT) for name, types in used.items()
    }


def read_when(top: Fields, around: OfferPublications | None, faults: list[Fault]) -> Mapping[str, object] | None:
    """The rule of an offer, as it is written everywhere. Without `around` it was judged before."""
    document = top.read_if_there("when", mapping, None)
    if document is None or around is None:
        return None if document is None else restore_document(document)
    try:
        return rule_document(parse_rule(document, of_offer(document, around)))
    except DocumentFaults as error:
        faults += error.faults
        return None


def _conditions(rule: object) -> Iterator[Mapping[str, object]]:
    waiting = [rule]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            yield each
            inner = each.get("conditions")
            waiting += inner if isinstance(inner, list | tuple) else ()


def _types(condition: Mapping[str, object]) -> Iterator[VariableType]:
    """The types that the constants of a condition have; of a text, that it is text goes without saying."""
    constant = condition.get("rhs")
    for each in constant if isinstance(constant, list | tuple) else (constant,):
        match each:
            case bool():
                yield VariableType.BOOLEAN
            case int():
                yield VariableType.INTEGER
            case datetime():
                yield VariableType.TIME
            case str():
                if each[:1].isdigit():  # as each time does
                    with suppress(Bad):
                        moment(each)
                        yield VariableType.TIME
                with suppress(Bad):
                    if condition.get("operator") in _ORDERED:
                        read_constant(Operator.EQ, VariableType.DECIMAL, each)
                        yield VariableType.DECIMAL
            case _:
                pass

"""The left sides that a campaign's rules know beside those of the event, and where their values come from. Pure."""

import difflib
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.template import COUNTRY_FIELD, MEMBER_FIELD
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.sides import Resolver, of_event, of_unknown_event, sides_of_event
from abacus.signals.rules.decide.types import Place, Side


class Origin(StrEnum):
    """Where looked-up values come from, the cheapest first."""

    SEGMENT = "segment"
    MEMBER = "member"
    CAMPAIGN = "campaign"
    COUNTER = "counter"
    EXTERNAL = "external"


class Calendar(StrEnum):
    """Ranges of a counter that begin with a day, a week or a month of the campaign's zone."""

    TODAY = "today"
    WEEK = "week"
    MONTH = "month"


# A range of time that ends with the event: a calendar one, or so long.
Range: TypeAlias = Calendar | timedelta


class CounterSide(NamedTuple):
    """`counter.NAME(range)`."""

    counter: str
    range: Range


MEMBER_SIDES: Final[Mapping[str, VariableType]] = {
    "member.tier": VariableType.TEXT,
    "member.balance": VariableType.INTEGER,
    "member.country": VariableType.TEXT,
}
CAMPAIGN_SIDES: Final[Mapping[str, VariableType]] = {
    "campaign.count": VariableType.INTEGER,
    "campaign.runs": VariableType.INTEGER,
    "campaign.points": VariableType.INTEGER,
}
LONGEST_RANGE: Final = timedelta(days=366)

_OWN: Final = {**MEMBER_SIDES, **CAMPAIGN_SIDES}
_LENGTH: Final = re.compile(r"([1-9][0-9]{0,3})([mhd])")
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_QUARTER: Final = timedelta(minutes=15)
_COUNTER: Final = re.compile(r"counter\.([a-z][a-z0-9_]{0,63})\(([a-z0-9]{1,8})\)")


def origin_of(side: Side) -> Origin:
    """Where the value of a looked-up side comes from."""
    return Origin(side.text.partition(".")[0])


def rank_of(side: Side) -> int:
    """The rank of the origin of a looked-up side: the cheapest is 0."""
    return list(Origin).index(origin_of(side))


def counter_side(text: str) -> CounterSide | None:
    """The counter and the range of `counter.rides(7d)`; None for a text of another form. Raises `Bad`."""
    match = _COUNTER.fullmatch(text)
    return None if match is None else CounterSide(match[1], _range(match[2]))


def of_campaign(on: Vocabulary | None, around: Surroundings) -> Resolver:
    """The left sides of a campaign that answers to these types of events. Without them no variable is judged."""
    of_events: Resolver = of_unknown_event if on is None else of_event(on.any())

    def resolve(text: str) -> Side | None:
        if text in _OWN:
            return _looked_up(text, _OWN[text])
        kind, dot, name = text.partition(".")
        match kind if dot else "":
            case Origin.SEGMENT:
                _named(name, around.segments, "segment", "abacus segments list")
                return _looked_up(text, VariableType.BOOLEAN)
            case Origin.EXTERNAL:
                _named(name, around.externals, "external service", "abacus downstreams list")
                return _looked_up(text, around.externals[name])
            case Origin.COUNTER:
                return _looked_up(text, _counter_type(text, on, around.counters))
            case Origin.MEMBER | Origin.CAMPAIGN:
                near = difflib.get_close_matches(text, list(_OWN), n=1)
                raise Bad(f"{quoted(text)} is unknown; {f'did you mean {near[0]}?' if near else _list(_OWN)}")
            case _:
                return of_events(text)

    return resolve


def sides_there_are(on: Vocabulary, around: Surroundings) -> Mapping[str, VariableType]:
    """The left sides that `of_campaign` knows, with their types: of each counter one, with a range to be changed."""
    resolve, found = of_campaign(on, around), {**sides_of_event(on.any()), **_OWN}
    others = (
        *(f"{Origin.SEGMENT}.{name}" for name in sorted(around.segments)),
        *(f"{Origin.COUNTER}.{name}(7d)" for name in sorted(around.counters)),
        *(f"{Origin.EXTERNAL}.{name}" for name in sorted(around.externals)),
    )
    for text in others:
        with suppress(Bad):  # a counter that is retired, or does not fit these events
            if (side := resolve(text)) is not None:
                found[text] = side.type
    return found


def _counter_type(text: str, on: Vocabulary | None, counters: Mapping[str, Definition]) -> VariableType:
    side = counter_side(text)
    if side is None:
        raise Bad(f"{quoted(text)} is not of the form counter.NAME(RANGE), such as counter.rides(7d)")
    _named(side.counter, counters, "counter", "abacus counters list")
    definition = counters[side.counter]
    if definition.retired:
        raise Bad(f"{side.counter} is retired: it counts no more")
    if on is not None:
        _check_fields(definition, on)
    return VariableType.DECIMAL if definition.decimals else VariableType.INTEGER


def _check_fields(definition: Definition, on: Vocabulary) -> None:
    """Raises `Bad` for a field of the counter's key that the events do not have."""
    for name in definition.template.fields:
        if name == COUNTRY_FIELD:
            on.check_has_countries()
        elif name != MEMBER_FIELD:
            on.type_of(name)


def _range(text: str) -> Range:
    if text in list(Calendar):
        return Calendar(text)
    match = _LENGTH.fullmatch(text)
    length = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if match is None or length > LONGEST_RANGE or length % _QUARTER:
        raise Bad(
            f"{quoted(text)} is not a range; write today, week, month, or a length such as 7d, 24h or 30m: whole"
            f" quarters of an hour, at most {LONGEST_RANGE.days} days"
        )
    return length


def _looked_up(text: str, type_: VariableType) -> Side:
    return Side(text, type_, Place.LOOKED_UP, text)


def _named(name: str, known: Iterable[str], what: str, listed_by: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, list(known), n=1)
        hint = f"did you mean {near[0]}?" if near else f"`{listed_by}` prints what there is"
        raise Bad(f"no {what} {quoted(name)} is defined; {hint}")


def _list(names: Iterable[str]) -> str:
    return f"there are {', '.join(names)}"

"""Messages to members: templates that stand in a document, and the fields that they may use. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.core.fields import Bad, Fault, mapping, shown
from abacus.engage.notify.decide.template import (
    DEFAULT_LOCALE,
    LARGEST,
    LOCALE_PATTERN,
    FilledTemplate,
    Unrenderable,
    Unwritten,
)
from abacus.signals.events.types import Event, Value, VariableType

_LOCALE: Final = re.compile(LOCALE_PATTERN)
_DECIMAL: Final = "decimal"
_TIME: Final = "time"
_SAMPLES: Final[Mapping[VariableType, Value]] = {
    VariableType.TEXT: "text",
    VariableType.INTEGER: 1,
    VariableType.DECIMAL: Decimal("1.50"),
    VariableType.BOOLEAN: True,
    VariableType.TIME: datetime(2026, 1, 10, 12, 30, tzinfo=UTC),
    VariableType.TEXTS: ("text",),
}


class Trial(NamedTuple):
    """A template of a document at its path, to be rendered for a sample of the events of a type."""

    path: str
    event_type: str
    rendering: FilledTemplate

    def fault(self, error: Unrenderable) -> Fault:
        """What came of it, for the author."""
        if isinstance(error, Unwritten):
            return Fault(self.path, str(error))
        return Fault(self.path, f"does not render for {self.event_type}: {error}")


def read_templates(value: object) -> Mapping[str, str]:
    """The template of each locale. Raises `Bad`."""
    templates = {}
    for locale, template in sorted(mapping(value).items()):
        if not _LOCALE.fullmatch(locale):
            raise Bad(f"{locale!r} is not a locale such as en, id or en-SG")
        if not isinstance(template, str) or len(template) > LARGEST:
            raise Bad(f"{locale}: {shown(template)}; write a text of at most {LARGEST:,} characters")
        templates[locale] = template
    if DEFAULT_LOCALE not in templates:
        raise Bad(f"has no {DEFAULT_LOCALE}; members of other languages than those here are told in English")
    return templates


def sample(types: Mapping[str, VariableType], event_type: tuple[str, str]) -> Event:
    """An event with every variable."""
    source, type_ = event_type
    return Event(source, type_, "1", "bob", "SG", datetime(2026, 1, 10, 12, 30, tzinfo=UTC), sample_values(types))


def sample_values(types: Mapping[str, VariableType]) -> dict[str, Value]:
    """A value of each type."""
    return {name: _SAMPLES[kind] for name, kind in types.items()}


def trial_of(path: str, template: str, locale: str, event: Event) -> Trial:
    fields = fields_of(event, campaign="campaign", count=1, points=1)
    return Trial(path, f"{event.source}/{event.type}", FilledTemplate(template, locale, fields))


def fields_of(event: Event, *, campaign: str, count: int, points: int) -> dict[str, Any]:
    """What a template may use. Variables are `event.NAME`."""
    return {"campaign": campaign, "count": count, "points": points, "event": event_fields(event)}


def event_fields(event: Event) -> dict[str, Any]:
    """What a template may use of an event."""
    about: dict[str, Any] = {"member_id": event.member_id, "country": event.country, "occurred_at": event.occurred_at}
    return {**about, **event.variables}


def kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as JSON holds them, also fields of tables. `restored` makes the same fields of it."""
    return {name: _each(_kept, value) if isinstance(value, Mapping) else value for name, value in fields.items()}


def restored(kept: Mapping[str, Any]) -> dict[str, Any]:
    """What `kept` was given."""
    return {name: _each(_restored, value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def _each(of: Callable[[Any], object], table: Mapping[str, Any]) -> dict[str, object]:
    return {name: of(value) for name, value in table.items()}


def _kept(value: Value | None) -> object:
    if isinstance(value, Decimal):
        return {_DECIMAL: str(value)}
    return {_TIME: value.isoformat()} if isinstance(value, datetime) else value


def _restored(value: Any) -> Value | None:
    if isinstance(value, dict):
        return Decimal(value[_DECIMAL]) if _DECIMAL in value else datetime.fromisoformat(value[_TIME])
    return tuple(value) if isinstance(value, list) else value

"""The messages of campaigns: templates that stand in the document, and the fields that they may use. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from jinja2 import TemplateError, TemplateSyntaxError, meta

from abacus.core.fields import Bad, mapping, shown
from abacus.engage.events.types import Event, Value, VariableType
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.rendering import (
    DEFAULT_LOCALE,
    ENVIRONMENT,
    LARGEST,
    LOCALE_PATTERN,
    SPELLED,
    Unrenderable,
    compiled,
    rendered,
)

_LOCALE: Final = re.compile(LOCALE_PATTERN)
_OWN: Final = ("campaign", "count", "points", "event")
_SAMPLES: Final[Mapping[VariableType, Value]] = {
    VariableType.TEXT: "text",
    VariableType.INTEGER: 1,
    VariableType.DECIMAL: Decimal("1.50"),
    VariableType.BOOLEAN: True,
    VariableType.TIME: datetime(2026, 1, 10, 12, 30, tzinfo=UTC),
    VariableType.TEXTS: ("text",),
}


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
    values = {name: _SAMPLES[kind] for name, kind in types.items()}
    return Event(source, type_, "1", "bob", "SG", datetime(2026, 1, 10, 12, 30, tzinfo=UTC), values)


def check_template(template: str, locale: str, event: Event) -> None:
    """Renders the template for a sample of an event. Raises `Bad` where that fails."""
    try:
        known = {*_OWN, *SPELLED}
        if unknown := sorted(meta.find_undeclared_variables(ENVIRONMENT.parse(template)) - known):
            raise Bad(f"{unknown[0]!r} is no field; there are {', '.join(_OWN)}")
        message_of(template, locale, event, campaign="campaign", count=1, points=1)
    except TemplateSyntaxError as error:
        raise Bad(f"line {error.lineno}: {error.message}") from None
    except (TemplateError, Unrenderable) as error:
        raise Bad(f"does not render for {event.source}/{event.type}: {error}") from None


def message_of(template: str, locale: str, event: Event, *, campaign: str, count: int, points: int) -> Words:
    """The message that a template makes of an event. Variables are `event.NAME`. Raises `Unrenderable`."""
    about: dict[str, Any] = {"member_id": event.member_id, "country": event.country, "occurred_at": event.occurred_at}
    fields = {"campaign": campaign, "count": count, "points": points, "event": {**about, **event.variables}}
    return rendered(compiled(template), fields, locale)

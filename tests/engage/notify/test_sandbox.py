"""The language of messages: what templates may write, and what is refused before it takes time or memory."""

import time
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import pytest

from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import Portion
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable, rendered, written
from tests.support.hostile_templates import REFUSED

FIELDS: Final[dict[str, Any]] = {
    "count": 3,
    "event": {
        "name": "ann",
        "amount": Decimal("1.50"),
        "tags": ("wet", "cold"),
        "long": "x" * 900,
        "occurred_at": datetime(2026, 1, 10, 12, 30, tzinfo=UTC),
    },
}


def said(rendering: FilledTemplate) -> Words:
    written(rendering)
    return rendered(rendering)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ event.name | upper }}, {{ event.name.title() }}", "ANN, Ann"),
        ("{{ event.amount * 2 + 1 }} {{ 7 // 2 }} {{ 7 % 2 }} {{ 3 / 2 }} {{ -count }}", "4.00 3 1 1.5 -3"),
        ("{{ event.amount | round(1) }} {{ 10 | round(2, 'ceil') }}", "1.5 10.0"),
        ("{{ event.tags | join(', ') }} {{ event.tags | sort | first }}", "wet, cold cold"),
        ("{{ event.tags | reverse | list | last }} {{ event.tags | length }}", "wet 2"),
        ("{{ 'a' ~ count ~ event.amount }} {{ 'a' + 'b' }}", "a31.50 ab"),
        ("{% for t in event.tags %}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}", "wet, cold"),
        ("{% for a, b in event.items() %}{{ a }} {% endfor %}", "name amount tags long occurred_at"),
        ("{% set n = count - 1 %}{{ 'one' if n == 1 else n ~ ' more' }}", "2 more"),
        ("{{ count in [1, 3] and 'wet' in event.tags and event.zip is not defined }}", "True"),
        ("{{ event.zip | default('none') }} {{ event.get('zip', 'none') }}", "none none"),
        ("{{ day(event.occurred_at) }} {{ event.occurred_at.strftime('%H:%M') }}", "10 January 2026 12:30"),
        ("{{ number(1250) }} {{ event.name[:2] }} {{ event.name | replace('n', 'm') }}", "1,250 an amm"),
        ("{{ 'long' if event.occurred_at - event.occurred_at else 'none' }}", "none"),
    ],
)
def test_what_a_message_may_say(template: str, text: str) -> None:
    assert said(FilledTemplate(f"Hi\n{template}", "en", FIELDS)) == ("Hi", text)


def test_entries_of_lots_have_fields_alone() -> None:
    lots = (Portion(points=5, expires_on=date(2026, 7, 31)),)
    fields = FilledTemplate("Hi\n{{ lots[0].points }} {{ day(lots[0].expires_on) }}", "en", {"lots": lots})
    assert rendered(fields).text == "5 31 July 2026"
    with pytest.raises(Unrenderable, match="access to attribute 'model_dump_json' of 'Portion' object is unsafe"):
        rendered(FilledTemplate("Hi\n{{ lots[0].model_dump_json(indent=300000000) }}", "en", {"lots": lots}))


@pytest.mark.parametrize(("template", "fault"), REFUSED)
def test_what_could_blow_up_is_refused(template: str, fault: str) -> None:
    """Before it does: none of them takes a second of the processor."""
    before = time.process_time()
    with pytest.raises(Unrenderable) as refused:
        said(FilledTemplate(f"Hi\n{template}", "en", FIELDS))
    assert fault in str(refused.value)
    assert time.process_time() - before < 1

"""Messages of campaigns: rendered when they are told, by the fields that the event had."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import orjson
import pytest

from abacus.engage.actions.decide.templates import fields_of, kept, restored
from abacus.engage.actions.messages import told
from abacus.engage.actions.types import DueAction
from abacus.engage.campaigns.decide.campaign import OWNER_KIND
from abacus.engage.campaigns.wiring import campaign_news
from abacus.engage.notify.decide.news import Campaigned
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.types import Event, Value
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

AT = datetime(2026, 1, 10, 12, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"amount": Decimal("1.50"), "large": Decimal("1E+3"), "number": 7, "is_new": True, "name": "a\x1b\n\"'"},
        {"tags": ("a", "b"), "none": (), "until": AT, "decimal": "1.50", "time": "now"},
    ],
)
def test_fields_are_the_same_after_they_were_kept(variables: Mapping[str, Value]) -> None:
    event = Event("rides", "ride.done", "1", "ann", None, AT, variables)
    fields = fields_of(event, campaign="market", count=2, points=500)
    again = restored(orjson.loads(orjson.dumps(kept(fields))))
    assert again == fields
    assert list(map(repr, again["event"].values())) == list(map(repr, fields["event"].values()))


def waiting(number: int, document: dict[str, Any]) -> DueAction:
    return DueAction(
        "ann", f"campaign:market:rides:{number}", 0, OWNER_KIND, "market", 1, 1, AT, json.dumps(document).encode(), None
    )


async def test_what_cannot_be_rendered_is_refused_with_its_reason_and_the_rest_is_told() -> None:
    event = Event("rides", "ride.done", "1", "ann", None, AT, {"amount": Decimal("1.50")})
    half = {"en": "Hi\n{{ 60 // (count - 3) }}", "id": "Hai\n{{ event.amount }}"}
    new = [
        waiting(
            count,
            {"country": "SG", "templates": half, "fields": kept(fields_of(event, campaign="m", count=count, points=0))},
        )
        for count in (2, 3, 4)
    ]
    async with rendering() as renderer:
        said = await told(new, renderer, {OWNER_KIND: campaign_news})
    assert said.refused == {new[1]: "its message: it does not render: integer division or modulo by zero"}
    news = [notice.news for notice in said.notices if isinstance(notice.news, Campaigned)]
    texts = [{locale: each.text for locale, each in about.words.items()} for about in news]
    assert texts == [{"en": "-60", "id": "1.50"}, {"en": "60", "id": "1.50"}]
    assert [notice.event_id for notice in said.notices] == [f"campaign:market:rides:{each}/0" for each in (2, 4)]


@pytest.mark.long
async def test_a_template_that_fails_for_a_rare_value_stops_nobody(house: House) -> None:
    words = {"en": "Hi\nIn {{ 60 // (count - 2) }} minutes."}
    await run_campaign(house, steps=[{"every": 1, "do": [{"tell": words}, {"award": {"points": 5}}]}])
    await house.produce([completed(number, member_id="ann", occurred_at=just_now()) for number in (1, 2, 3)])
    async with house.running("calculator", "awarder", "campaigner"):

        async def ended() -> bool:
            rows = "select count(*) from action where done_at is not null or refused_at is not null"
            return bool(await house.pool.fetchval(rows) == 6)

        await until(ended)
    rows = await house.pool.fetch("select kind, reason from action where refused_at is not null")
    assert [tuple(row) for row in rows] == [
        ("tell", "its message: it does not render: integer division or modulo by zero")
    ]
    parts = await house.pool.fetch("select part from notice where part::text like '%campaign%'")
    assert {json.loads(row["part"])["words"]["en"]["text"] for row in parts} == {"In -60 minutes.", "In 60 minutes."}

"""Where a new draft of a document with a time begins: the example of its form, in a country that is open."""

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from abacus.console.web.calls import Call
from abacus.documents.form.example import example
from abacus.documents.form.types import Form
from abacus.people.types.deed import Deed


def place_of(call: Call, form: Form, deed: Deed, lasts: timedelta) -> dict[str, Any]:
    """The first country in which the person may do the deed, its zone, and times from tomorrow on."""
    usual = example(form)
    country = next(iter(call.countries(deed) or ()), str(usual["country"]))
    card = call.premises.card_of(country)
    zone = ZoneInfo(card.timezone if card is not None else str(usual["timezone"]))
    first = datetime.combine(call.now.astimezone(zone).date() + timedelta(days=1), time(), zone)
    return {"country": country, "timezone": zone.key, "starts_at": first, "ends_at": first + lasts}


def begun_example(call: Call, form: Form, deed: Deed, lasts: timedelta) -> dict[str, Any]:
    return {**example(form), **place_of(call, form, deed, lasts)}

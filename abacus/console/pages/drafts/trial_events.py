"""Events that a trial assumes, as JSON that a person may change."""

import json
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.decide.form_field import FormField
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm

_EVENT: Final = """{
  "type": "transaction.completed",
  "source": "food",
  "transaction_id": "T-1",
  "member_id": "bob",
  "country": "%s",
  "vertical": "food",
  "payment_type": "wallet",
  "amount": "20.00",
  "currency": "%s",
  "occurred_at": "%s"
}
"""


def event_field(call: Call, country: str, zone: ZoneInfo) -> FormField:
    """A transaction in the country."""
    now, card = call.now.astimezone(zone).isoformat(timespec="seconds"), call.premises.card_of(country)
    event = _EVENT % (country, card.currency if card is not None else "", now)
    return FormField("event", "The event, as JSON", event, type="textarea")


def read_json(typed: Form, name: str) -> str:
    """What was typed into a field of JSON. Raises `WrongForm`."""
    text = typed.get(name)
    try:
        json.loads(text)
    except ValueError as fault:
        raise WrongForm(typed.but(**{name: f"Not JSON: {fault}"})) from None
    return text

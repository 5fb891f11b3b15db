"""Events that a trial assumes, as JSON that a person may change."""

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from abacus.console.decide.form_field import FormField
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm


def event_field(call: Call, country: str, zone: ZoneInfo) -> FormField:
    """A transaction in the country."""
    event = json.dumps(transaction(call, country, call.now.astimezone(zone)), indent=2)
    return FormField("event", "The event, as JSON", f"{event}\n", type="textarea")


def transaction(call: Call, country: str, at: datetime, number: int = 1) -> dict[str, Any]:
    """As its message has it."""
    card = call.premises.card_of(country)
    return {
        "type": "transaction.completed",
        "source": "food",
        "transaction_id": f"T-{number}",
        "member_id": "bob",
        "country": country,
        "vertical": "food",
        "payment_type": "wallet",
        "amount": "20.00",
        "currency": card.currency if card is not None else "",
        "occurred_at": at.isoformat(timespec="seconds"),
    }


def read_json(typed: Form, name: str) -> str:
    """What was typed into a field of JSON. Raises `WrongForm`."""
    text = typed.get(name)
    try:
        json.loads(text)
    except ValueError as fault:
        raise WrongForm(typed.but(**{name: f"Not JSON: {fault}"})) from None
    return text

"""Drafts of offers: filled in as a form, told as sentences, tried, and submitted to another person."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.offer_trials import answered, would_have_given
from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind, TrialKind, TrialOrder
from abacus.console.pages.drafts.trials import day_fields, days_of
from abacus.console.pages.offers.offer_preview import OFFER_PREVIEW
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.core.points import plain
from abacus.engage.offers.decide.document import toml_of
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from abacus.engage.offers.decide.offer_reader import restore_offer
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS

_LASTS: Final = timedelta(days=30)
_MONTH: Final = timedelta(days=30)
_REQUEST_FILE: Final = "request.json"
_USUAL_PRICE: Final = "20"


def _approved(document: Mapping[str, Any]) -> Offer:
    return restore_offer(document["offer"], document["version"])


def _request_fields(_: Call, offer: Offer) -> Sequence[FormField]:
    """A request for one item that the offer is for, to be changed."""
    named = offer.scope.values
    price = plain(offer.price.least) if offer.price.least else _USUAL_PRICE
    item = {
        "id": "1",
        "product": min(named.products, default="any"),
        "merchant": min(named.merchants, default="any"),
        "brand": min(named.brands, default="any"),
        "categories": sorted(named.categories)[:1],
        "price": price,
        "currency": offer.currency,
    }
    asked = {"country": offer.country, "scenario": "best", "items": [item]}
    return [
        FormField("request", "The request, as JSON", json.dumps(asked, indent=2), type="textarea"),
        FormField("member", "Member", hint="Otherwise the request's own, or nobody."),
    ]


def _last_month(call: Call, offer: Offer) -> Sequence[FormField]:
    today = call.now.astimezone(offer.zone).date()
    return day_fields(today - _MONTH, today)


def _simulation(typed: Form, _: Offer) -> TrialOrder:
    member = typed.get("member")
    try:
        asked = json.loads(typed.get("request"))
    except ValueError as fault:
        raise WrongForm(typed.but(request=f"Not JSON: {fault}")) from None
    if member and isinstance(asked, dict):
        asked = {**asked, "member_id": member}
    return TrialOrder((f"--request={_REQUEST_FILE}",), {_REQUEST_FILE: json.dumps(asked)})


def _backtest(typed: Form, offer: Offer) -> TrialOrder:
    """Whole days of the offer's zone, both included; at another time than its own it is tried at any time."""
    since, until = days_of(typed)
    first, last = (at.astimezone(offer.zone).date() for at in (offer.starts_at, offer.ends_at))
    any_time = () if first <= until and since <= last else ("--any-time",)
    return TrialOrder((f"--from={since}", f"--to={until}", *any_time))


OFFER_DRAFTS: Final = DraftKind(
    kind=OFFERS,
    is_granted=True,
    desk=lambda rooms: rooms[OfferDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: toml_of(begun_example(call, OFFER_FORM, OFFERS.deed, _LASTS)),
    preview=OFFER_PREVIEW,
    submit="Submit for approval",
    trials=[
        TrialKind(
            act="simulate",
            errand="offer-simulate",
            title="What would be answered to a request",
            button="Simulate",
            fields=_request_fields,
            order=_simulation,
            words=answered,
            note="Among the offers in force now. A code counts as given.",
        ),
        TrialKind(
            act="backtest",
            errand="offer-backtest",
            title="What it would have given",
            button="Backtest",
            fields=_last_month,
            order=_backtest,
            words=would_have_given,
            note="For the transactions of these days that earned points, had each that it fits used it. "
            "Limits begin unused; what rules look up is as it is now.",
        ),
    ],
    trials_path="/offer-trials",
    approval=OFFERS.approval,
    approved=_approved,
)

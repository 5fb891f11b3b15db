"""Drafts of rate cards: fields beside the text, and a backtest that prices earlier awards again."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.approving.card_desk import CardDesk
from abacus.console.decide.form_field import FormField
from abacus.console.decide.trials import repriced
from abacus.console.pages.drafts.draft_kind import DraftKind, TrialKind, TrialOrder
from abacus.console.pages.drafts.trials import day_fields, days_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.documents.form.example import example
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import RateCard, country_of, parse_card, to_toml
from abacus.pricing.decide.card_form import CARD_FORM
from abacus.pricing.kind import CARDS
from abacus.pricing.store.cards import CardReader

_MONTH: Final = timedelta(days=30)


def _begin(call: Call) -> str:
    """The latest card of the first scope that is open; where there is none, the example, from today on."""
    book = call.rooms[CardReader].book()
    for scope in book.scopes():
        if call.may(Deed.PUBLISH_RATES, country_of(scope)):
            return to_toml(book.versions(scope)[-1].card)
    document = example(CARD_FORM)
    scope = next(iter(call.countries(Deed.PUBLISH_RATES) or ()), str(document["scope"]))
    today = call.now.astimezone(ZoneInfo(str(document["timezone"]))).replace(hour=0, minute=0, second=0, microsecond=0)
    return to_toml(parse_card({**document, "scope": scope, "effective_from": today}))


def _last_month(call: Call, _: RateCard) -> Sequence[FormField]:
    today = call.now.date()
    return day_fields(today - _MONTH, today)


def _order(typed: Form, _: RateCard) -> TrialOrder:
    since, until = days_of(typed)
    return TrialOrder((f"--from={since}", f"--to={until}"))


CARD_DRAFTS: Final = DraftKind(
    kind=CARDS,
    desk=lambda rooms: rooms[CardDesk],
    about="A card is never changed: this one takes over on its day. Another person approves exactly what stands here.",
    begin=_begin,
    submit="Submit for approval",
    trials=[
        TrialKind(
            act="backtest",
            errand="rates-backtest",
            title="What it would have awarded",
            button="Backtest",
            fields=_last_month,
            order=_order,
            words=repriced,
        )
    ],
    trials_path="/rates-backtests",
    approval=ApprovalKind.RATE_CARD,
    approved=parse_card,
)

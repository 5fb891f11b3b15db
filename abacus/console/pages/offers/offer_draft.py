"""Drafts of offers: filled in as a form, told as sentences, and submitted to another person."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.offers.offer_preview import OFFER_PREVIEW
from abacus.engage.offers.decide.document import toml_of
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from abacus.engage.offers.decide.offer_reader import restore_offer
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS

_LASTS: Final = timedelta(days=30)


def _approved(document: Mapping[str, Any]) -> Offer:
    return restore_offer(document["offer"], document["version"])


OFFER_DRAFTS: Final = DraftKind(
    kind=OFFERS,
    desk=lambda rooms: rooms[OfferDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: toml_of(begun_example(call, OFFER_FORM, OFFERS.deed, _LASTS)),
    preview=OFFER_PREVIEW,
    submit="Submit for approval",
    approval=OFFERS.approval,
    approved=_approved,
)

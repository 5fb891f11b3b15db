"""Offers, as published documents: each version has a state, and holds once a second person has approved it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from abacus.core.fields import EARLIEST
from abacus.documents.stated import StatedKind, stated_table
from abacus.documents.types import Version
from abacus.engage.offers.decide.document import described, to_document, to_toml, toml_of
from abacus.engage.offers.decide.offer import LABELS, Offer
from abacus.engage.offers.decide.offer_choices import offer_choices
from abacus.engage.offers.decide.offer_form import OFFER_FORM
from abacus.engage.offers.decide.offer_reader import parse_offer, restore_offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.scope_reader import named_spots
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed

_NUMBER: Final = "(select n.number from offer_number n where n.name = d.name)"


async def _read(document: Mapping[str, object], around: OfferPublications) -> Offer:
    named = named_spots(document)
    if any(named.values()):
        around = replace(around, spots=await around.seek(named))
    return parse_offer(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Offer:
    """A version that is only being written has no number yet, and holds for nothing before it was approved."""
    number, approved_at = version.own.get("number"), version.own["approved_at"]
    return restore_offer(document, version.number, number or 0, approved_at or EARLIEST)


OFFERS: Final[StatedKind[Offer, OfferPublications]] = StatedKind(
    word="offer",
    plural="offers",
    noun="offer",
    command="offers",
    subject="offer",
    deed=Deed.EDIT_OFFERS,
    table=stated_table("offer", "name")._replace(told={"number": _NUMBER}),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda offer: offer.name,
    name=lambda offer: offer.name,
    split_label=LABELS.split,
    country=lambda offer: offer.country,
    toml=to_toml,
    write=toml_of,
    form=OFFER_FORM,
    choices=offer_choices,
    approval=ApprovalKind.OFFER,
)

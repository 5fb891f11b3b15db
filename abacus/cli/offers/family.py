"""Offers on the command line: their desk, and drafts in files."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final

from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.engage.campaigns.grantors import Grantors
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.kind import OFFERS


def offer_desk(at: CommandActor) -> OfferDesk:
    return OfferDesk(at.pool, at.clock, large_moves(at.pool, at).approvals)


def _with_drafts(published: OfferPublications, drafts: Mapping[str, Sequence[Any]]) -> OfferPublications:
    return published.with_drafts(
        cards=drafts.get("rates", ()),
        categories=drafts.get("categories", ()),
        counters=drafts.get("counters", ()),
        downstreams=drafts.get("downstreams", ()),
    )


FAMILY: Final = StatedFamily(
    kind=OFFERS,
    desk=lambda at: nullcontext(offer_desk(at)),
    files="Offers, in TOML or JSON.",
    drafts="offers",
    one="an offer",
    nothing_new="the offers are there already",
    with_drafts=_with_drafts,
    grantors=Grantors,
    sentence=lambda offer: f"{offer.name} of {offer.country}",
)

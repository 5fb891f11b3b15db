"""The members who are invited to an offer: how many there are, and a list of members by which that is changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from abacus.console.decide.segment_words import faults
from abacus.console.pages.offers.offer_pages import edited
from abacus.console.web.calls import Call
from abacus.console.web.page import See
from abacus.core.errors import Refused
from abacus.engage.offers.decide.invited import Inviting
from abacus.engage.offers.decide.offer import Audience, Offer
from abacus.engage.offers.desk import OfferDesk
from abacus.signals.segments.decide.listed import listed

HOW, IDS, FILE = "how", "members", "file"
HOWS: Final[Mapping[str, str]] = {
    Inviting.ADD: "invite these members",
    Inviting.REMOVE: "take their invitations back",
    Inviting.REPLACE: "invite these members, and nobody else",
}


@dataclass(frozen=True)
class OfferInvitations:
    """How many members are invited, and what can be done."""

    invited: int

    @property
    def hows(self) -> list[tuple[str, str]]:
        return [*HOWS.items()]


async def invitations_of_offer(call: Call, offer: Offer) -> OfferInvitations | None:
    """None where nobody is invited to the offer."""
    if offer.audience is not Audience.INVITATION:
        return None
    return OfferInvitations(await call.rooms[OfferDesk].invited(offer))


async def invite(call: Call) -> See:
    """Invites the members of a list or of a file, or takes their invitations back. Done again it changes nothing."""
    offer, how = await edited(call), call.form.get(HOW)
    if how not in HOWS:
        raise call.wrong(**{HOW: "Choose one."})
    given = listed(call.form.get(FILE) or call.form.exactly(IDS))
    if given.bad:
        raise call.wrong(**{IDS: faults(given.bad)})
    if not given.members:
        raise call.wrong(**{IDS: "Name one member at least."})
    try:
        done = await call.rooms[OfferDesk].invite(offer.name, Inviting(how), [given.members], call.actor)
    except Refused as fault:
        raise call.wrong(f"{fault}.") from None
    said = [f"{done.added:,} invited"] if done.added else []
    said += [f"{done.removed:,} invitations taken back"] if done.removed else []
    return See(f"/offers/{offer.name}", f"{', '.join(said) or 'Nothing is changed'}.")

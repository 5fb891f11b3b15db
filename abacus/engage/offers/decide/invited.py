"""Invitations to an offer: what is done with members, what came of it, and who may give them. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.core.fields import Bad, quoted
from abacus.engage.offers.decide.offer import Audience, Offer


class Inviting(StrEnum):
    """What is done with the members that are named."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"  # they are invited, and nobody else


class Invited(NamedTuple):
    """How many members were invited, and of how many the invitation was taken back."""

    added: int = 0
    removed: int = 0


def check_invites(offer: Offer) -> None:
    """Raises `Refused` where nobody is invited to the offer."""
    if offer.audience is not Audience.INVITATION:
        raise Refused(
            f"{offer.label} is for {offer.audience}; members are invited where audience is {Audience.INVITATION}"
        )


class OfferHead(NamedTuple):
    """What another document has to know of an offer that it names."""

    country: str
    audience: str


def head_of(offer: Offer) -> OfferHead:
    return OfferHead(offer.country, offer.audience)


def check_gives(name: str, known: Mapping[str, OfferHead], country: str) -> None:
    """Whether a document of the country may give invitations to the offer. Raises `Bad`."""
    head = known.get(name)
    if head is None:
        raise Bad(f"no offer {quoted(name)} is there; `abacus offers list` prints all")
    if (why := not_by_invitation(name, head.audience)) is not None:
        raise Bad(why)
    if head.country != country:
        raise Bad(f"{name} is an offer of {head.country}, this is of {country}")


def given_in(country: str, known: Mapping[str, OfferHead]) -> list[str]:
    """The offers to which a document of the country may give invitations."""
    return sorted(
        name for name, head in known.items() if head.audience == Audience.INVITATION and head.country == country
    )


def not_by_invitation(name: str, audience: str) -> str | None:
    """Why nobody is invited to the offer; None where members are."""
    if audience == Audience.INVITATION:
        return None
    return f"{name} is not by invitation: its audience is {audience}"

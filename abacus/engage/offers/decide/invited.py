"""Invitations to an offer: what is done with members, and what came of it. Pure values."""

from enum import StrEnum
from typing import NamedTuple

from abacus.core.errors import Refused
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

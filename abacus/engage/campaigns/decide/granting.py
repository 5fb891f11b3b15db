"""Offers and rewards that campaigns grant: what keeps a version from being granted, and how that is told. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.engage.actions.decide.deeds import Grant, Granted
from abacus.engage.offers.decide.invited import not_by_invitation
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.rewards.decide.reward import Reward


class GrantedBy(NamedTuple):
    """Versions of campaigns in force, by their labels. `refused` says why what they grant is refused; None where it is
    not.
    """

    campaigns: Sequence[str]
    refused: str | None

    @property
    def words(self) -> str:
        by = f"granted by {', '.join(self.campaigns)}"
        return by if self.refused is None else f"{by}, and refused: {self.refused}"

    @property
    def document(self) -> dict[str, object]:
        return {"granted_by": list(self.campaigns), "refused": self.refused if self.campaigns else None}


def granted_as(of: object) -> Grant:
    """The deed by which a campaign grants this document."""
    match of:
        case Offer():
            return Grant(Granted.OFFER, of.name)
        case Reward():
            return Grant(Granted.REWARD, of.name)
    raise TypeError(f"campaigns grant no {type(of).__name__}")


def refusal_of(of: object) -> str | None:
    """Why no version like this is granted to anybody."""
    return not_by_invitation(of.name, of.audience) if isinstance(of, Offer) else None

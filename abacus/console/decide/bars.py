"""How much of a campaign's limits is used. Pure."""

from dataclasses import dataclass

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.limits.types import MICROS, Amounts


@dataclass(frozen=True)
class Bar:
    """One limit over the whole life: what is used of it, in words, and as a share from 0 to 1."""

    name: str
    used: str
    most: str
    share: float


def bars_of(campaign: Campaign, have: Amounts) -> list[Bar]:
    """The bars of all members together."""
    bound = campaign.limits.overall
    return [
        Bar(
            "budget" if name == "cost" else name,
            _amount(name, amount),
            _amount(name, most),
            min(1.0, amount / most) if most else 1.0,
        )
        for name, amount, most in zip(bound._fields, have, bound, strict=True)
        if most is not None
    ]


def _amount(name: str, amount: int) -> str:
    return f"{amount / MICROS:,.2f}" if name == "cost" else f"{amount:,}"

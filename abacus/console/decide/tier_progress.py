"""How far a member is on its way to the next tier. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from abacus.pricing.decide.card import TierPolicy
from abacus.programs.tiers.decide.policy import Period, Tally


@dataclass(frozen=True)
class TierProgress:
    """In one program: the tier, the points of the present period, and what the next tier takes."""

    program: str
    country: str
    tier: str
    until: date | None
    override: str | None
    earned: int
    ends_on: date | None
    next: str | None
    missing: int | None


def next_tier(policy: TierPolicy | None, earned: int) -> tuple[str | None, int | None]:
    """The tier that comes next for the points earned in a period, and how many are missing."""
    thresholds: Mapping[str, int] = policy.thresholds if policy is not None else {}
    above = sorted((points, tier) for tier, points in thresholds.items() if points > earned)
    return (above[0][1], above[0][0] - earned) if above else (None, None)


def earned_in(tallies: Iterable[Tally], period: Period) -> int:
    return next((tally.earned for tally in tallies if tally.period == period), 0)

"""How far a member is on its way to the next tier, and whether it keeps the one that it has. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from abacus.pricing.decide.card import BASE_TIER, TierPolicy
from abacus.programs.tiers.decide.policy import Period, Tally


@dataclass(frozen=True)
class TierProgress:
    """In one program: the tier, the points of the present period, and what the next tier takes. `keeps` is what is
    missing to keep the tier beyond the period; None where it lasts longer, or is set by hand.
    """

    program: str
    country: str
    tier: str
    until: date | None
    override: str | None
    earned: int
    ends_on: date | None
    next: str | None
    missing: int | None
    keeps: int | None


def next_tier(policy: TierPolicy | None, tier: str, earned: int) -> tuple[str | None, int | None]:
    """The tier above this one that comes next for the points earned in a period, and how many are missing. None above a
    tier that the policy does not name: an operator has set it.
    """
    thresholds: Mapping[str, int] = policy.thresholds if policy is not None else {}
    if tier != BASE_TIER and tier not in thresholds:
        return None, None
    reached = max(earned, thresholds.get(tier, 0))
    above = sorted((points, name) for name, points in thresholds.items() if points > reached)
    return (above[0][1], above[0][0] - earned) if above else (None, None)


def missing_to_keep(
    policy: TierPolicy | None, tier: str, until: date | None, earned: int, period: Period
) -> int | None:
    """The points that are missing to keep a tier that lasts no longer than this period; None where none are."""
    takes = policy.thresholds.get(tier) if policy is not None else None
    if takes is None or until is None or until > period.ends_on or earned >= takes:
        return None
    return takes - earned


def earned_in(tallies: Iterable[Tally], period: Period) -> int:
    return next((tally.earned for tally in tallies if tally.period == period), 0)

"""The points that an offer gives when it is redeemed, for proofs to compute them again. Pure."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

PointsBenefit = Literal["points_times", "points_plus"]


def offered_points(benefit: PointsBenefit, figure: Decimal, cap: Decimal | None, earned: int | None) -> int:
    """`figure` points, or that many times what the purchase `earned`, which has the first of these by itself. Rounded
    half up, once, and never more than the cap.
    """
    given = figure if benefit == "points_plus" else (figure - 1) * (earned or 0)
    points = int(max(given, Decimal(0)).to_integral_value(ROUND_HALF_UP))
    return points if cap is None else min(points, int(cap.to_integral_value(ROUND_HALF_UP)))

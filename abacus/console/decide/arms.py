"""The arms of a split, with how sure their shares are. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from abacus.engage.campaigns.decide.interval import Interval, share_interval
from abacus.engage.campaigns.decide.limits import MICROS
from abacus.engage.campaigns.report import CampaignReport
from abacus.engage.campaigns.reporting import against_control


@dataclass(frozen=True)
class Arm:
    """The members that an arm has met and those that came to the goal, with intervals at 95 %."""

    name: str
    members: int
    conversions: int
    share: Interval | None
    against_control: Interval | None
    points: int
    cost: float


def arms_of(found: CampaignReport) -> Sequence[Arm]:
    return [
        Arm(
            each.variant,
            each.members,
            each.conversions,
            share_interval(each.conversions, each.members),
            against_control(each, found),
            each.points,
            each.cost / MICROS,
        )
        for each in found.arms
    ]

"""What can be done to a member, in the order of the buttons."""

from typing import Final

from abacus.console.pages.members.erasures import ERASE_ACT
from abacus.console.pages.members.point_acts import POINT_ACTS
from abacus.console.pages.members.tier_act import TIER_ACT

ACTS: Final = (*POINT_ACTS, TIER_ACT, ERASE_ACT)

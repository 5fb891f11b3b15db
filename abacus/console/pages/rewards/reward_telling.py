"""How the approval of a reward is told."""

from typing import Final

from abacus.console.pages.approvals.stated_telling import StatedTelling
from abacus.console.pages.rewards.reward_draft import REWARD_DRAFTS
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS

_WHY: Final = (
    "A reward gives things away for points, so another person looks at exactly this version before it is there."
)

REWARD: Final = StatedTelling(REWARDS, REWARD_FORM, RewardDesk, why=_WHY, drafts=REWARD_DRAFTS).telling()

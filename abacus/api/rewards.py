"""The routes by which people see rewards, submit them, and pause, resume and end them."""

from typing import Final

from abacus.api.answer_examples import REWARD_DOCUMENT
from abacus.api.document_routes import DocumentRoutes
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS

_ROUTES: Final = DocumentRoutes(
    REWARDS,
    RewardDesk,
    manual="docs/country-teams/rewards.md",
    example=REWARD_DOCUMENT,
    wrong_state="reward-state",
)

router = _ROUTES.router()

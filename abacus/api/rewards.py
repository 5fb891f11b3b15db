"""The routes by which people see rewards, submit them, and pause, resume and end them; and a member's rewards."""

from typing import Annotated, Final

from fastapi import Query, Request
from starlette.responses import Response

from abacus.api.answer_examples import REWARD_DOCUMENT
from abacus.api.auth import caller_of
from abacus.api.document_routes import MOST_ON_PAGE, PAGE, DocumentRoutes
from abacus.api.redemption_answers import MemberRewardsAnswer
from abacus.api.redemptions import rewards_of
from abacus.core.ids import ID_PATTERN
from abacus.documents.decide.states import State
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS

_ROUTES: Final = DocumentRoutes(
    REWARDS,
    RewardDesk,
    manual="docs/country-teams/rewards.md",
    example=REWARD_DOCUMENT,
    wrong_state="reward-state",
    is_granted=True,
)


async def rewards(
    request: Request,
    *,
    member_id: Annotated[str | None, Query(pattern=ID_PATTERN, description="What this member can have.")] = None,
    state: Annotated[State | None, Query()] = None,
    country: Annotated[str | None, Query(pattern="^[A-Z]{2}$")] = None,
    after: Annotated[str | None, Query(description="The last name of the page before.", max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ON_PAGE)] = PAGE,
) -> Response:
    """With a member, the rewards that are there for it; else all, for people."""
    if member_id is not None:
        return await rewards_of(caller_of(request), member_id)
    return await _ROUTES.page(request, state, country, after, limit)


router = _ROUTES.router(page=rewards, more=MemberRewardsAnswer, problems=[404])

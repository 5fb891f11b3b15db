"""Rewards in Postgres: a store of versions with states."""

from typing import TypeAlias

from abacus.documents.stated import Stated
from abacus.documents.stated_store import StatedStore
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.kind import REWARDS
from abacus.platform.postgres import Pool

RewardRecord: TypeAlias = Stated[Reward]


class RewardStore(StatedStore[Reward, RewardPublications]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, REWARDS)

"""Rewards, as published documents: each version has a state, and holds once a second person has approved it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from abacus.documents.stated import StatedKind, stated_table
from abacus.documents.types import Version
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import LABELS, Reward
from abacus.engage.rewards.decide.reward_document import described, to_document, to_toml
from abacus.engage.rewards.decide.reward_form import REWARD_FORM, reward_choices
from abacus.engage.rewards.decide.reward_reader import parse_reward, restore_reward
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed


async def _read(document: Mapping[str, object], around: RewardPublications) -> Reward:
    return parse_reward(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Reward:
    """Nobody has it before it was approved."""
    reward, approved_at = restore_reward(document, version.number), version.own["approved_at"]
    return reward if approved_at is None else replace(reward, approved_at=approved_at)


REWARDS: Final[StatedKind[Reward, RewardPublications]] = StatedKind(
    word="reward",
    plural="rewards",
    noun="reward",
    command="rewards",
    subject="reward",
    deed=Deed.EDIT_REWARDS,
    table=stated_table("reward", "name"),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda reward: reward.name,
    name=lambda reward: reward.name,
    split_label=LABELS.split,
    country=lambda reward: reward.country,
    toml=to_toml,
    form=REWARD_FORM,
    choices=reward_choices,
    approval=ApprovalKind.REWARD,
)

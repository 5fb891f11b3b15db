"""Drafts of rewards: filled in as a form, told as sentences, and submitted to another person."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.core.document_text import write_toml
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.decide.reward_reader import restore_reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS

_LASTS: Final = timedelta(days=90)


def _approved(document: Mapping[str, Any]) -> Reward:
    return restore_reward(document["reward"], document["version"])


REWARD_DRAFTS: Final = DraftKind(
    kind=REWARDS,
    is_granted=True,
    desk=lambda rooms: rooms[RewardDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: write_toml(begun_example(call, REWARD_FORM, REWARDS.deed, _LASTS)),
    submit="Submit for approval",
    approval=REWARDS.approval,
    approved=_approved,
)

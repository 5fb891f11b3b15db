"""Drafts of rewards: filled in as a form, told as sentences, tried, and submitted to another person."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.reward_trials import would_have_meant
from abacus.console.decide.typed import whole
from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind, TrialKind, TrialOrder
from abacus.console.pages.drafts.trials import day_fields, days_of
from abacus.console.pages.rewards.reward_preview import REWARD_PREVIEW
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.core.document_text import write_toml
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.decide.reward_reader import restore_reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS

_LASTS: Final = timedelta(days=90)
_MONTH: Final = timedelta(days=30)
_ALL: Final = 100


def _approved(document: Mapping[str, Any]) -> Reward:
    return restore_reward(document["reward"], document["version"])


def _last_month(call: Call, reward: Reward) -> Sequence[FormField]:
    today = call.now.astimezone(reward.zone).date()
    share = FormField("rate", "Of 100 members who take it", value=str(_ALL), inputmode="numeric")
    return [*day_fields(today - _MONTH, today), share]


def _backtest(typed: Form, reward: Reward) -> TrialOrder:
    """Whole days of the reward's zone, both included; at another time than its own it is tried at any time."""
    since, until = days_of(typed)
    rate = whole(typed.get("rate"))
    if isinstance(rate, str) or not 1 <= rate <= _ALL:
        raise WrongForm(typed.but(rate=f"Write a number from 1 to {_ALL}."))
    first, last = (at.astimezone(reward.zone).date() for at in (reward.starts_at, reward.ends_at))
    any_time = () if first <= until and since <= last else ("--any-time",)
    return TrialOrder((f"--from={since}", f"--to={until}", f"--take-rate={rate}", *any_time))


REWARD_DRAFTS: Final = DraftKind(
    kind=REWARDS,
    is_granted=True,
    desk=lambda rooms: rooms[RewardDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: write_toml(begun_example(call, REWARD_FORM, REWARDS.deed, _LASTS)),
    preview=REWARD_PREVIEW,
    submit="Submit for approval",
    trials=[
        TrialKind(
            act="backtest",
            errand="reward-backtest",
            title="What it would have meant",
            button="Backtest",
            fields=_last_month,
            order=_backtest,
            words=would_have_meant,
            note="For the points that members had on these days: who could have afforded it, and how much of it there "
            "would have been at most.",
        ),
    ],
    trials_path="/reward-trials",
    approval=REWARDS.approval,
    approved=_approved,
)

"""Drafts of rewards: filled in as a form, told as sentences, and submitted to another person."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.web.calls import Call
from abacus.core.document_text import write_toml
from abacus.documents.form.example import example
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.decide.reward_reader import restore_reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS
from abacus.people.types.deed import Deed

_LASTS: Final = timedelta(days=90)


def _begun(call: Call) -> str:
    """The example of the form, in the first country that is open, from tomorrow on."""
    usual = example(REWARD_FORM)
    country = next(iter(call.countries(Deed.EDIT_REWARDS) or ()), str(usual["country"]))
    card = call.premises.card_of(country)
    zone = ZoneInfo(card.timezone if card is not None else str(usual["timezone"]))
    first = datetime.combine(call.now.astimezone(zone).date() + timedelta(days=1), time(), zone)
    place = {"country": country, "timezone": zone.key, "starts_at": first, "ends_at": first + _LASTS}
    return write_toml({**usual, **place})


def _approved(document: Mapping[str, Any]) -> Reward:
    return restore_reward(document["reward"], document["version"])


REWARD_DRAFTS: Final = DraftKind(
    kind=REWARDS,
    desk=lambda rooms: rooms[RewardDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=_begun,
    submit="Submit for approval",
    approval=REWARDS.approval,
    approved=_approved,
)

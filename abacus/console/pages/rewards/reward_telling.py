"""How the approval of a reward is told: its sentences, and what changes against the version before."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changes_of, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.rewards.reward_draft import REWARD_DRAFTS
from abacus.console.web.calls import Call
from abacus.documents.form.sentences import sentences
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.decide.reward_reader import restore_reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.kind import REWARDS
from abacus.people.types.approval import Approval

_WHY: Final = (
    "A reward gives things away for points, so another person looks at exactly this version before it is there."
)


def _title(approval: Approval, document: Any) -> str:
    about = document["reward"].get("about")
    return f"Reward {f'“{about}”' if about else approval.subject}, {approval.country}"


def _within(approval: Approval, document: Any) -> str:
    about = document["reward"].get("about")
    return f"reward {about or approval.subject}, version {document['version']}"


async def _told(call: Call, _: Approval, document: Any) -> Told:
    reward = restore_reward(document["reward"], document["version"])
    history = await call.rooms[RewardDesk].history(reward.name)
    before = [
        each.document for each in history if each.document.version < reward.version and each.approved_at is not None
    ]
    return Told(
        why=_WHY,
        sentences=sentences(REWARD_FORM, document["reward"]),
        changes=changes_of(REWARD_FORM, REWARDS.to_document(before[-1]) if before else None, document["reward"]),
        against=before[-1].label if before else None,
        about=[Named("reward", reward.label)],
        everything=everything_of(document["reward"]),
    )


REWARD: Final = Telling(
    kind=REWARDS.approval, noun="Reward", title=_title, told=_told, within=_within, drafts=REWARD_DRAFTS
)

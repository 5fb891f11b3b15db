"""One reward: a version of it as sentences, what was taken, and what may be done to this version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.drafts.stated_pages import StatedPages
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.pages.rewards.reward_list import RewardRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.documents.form.sentences import Sentence, sentences
from abacus.engage.rewards.decide.reward_document import to_document, to_toml
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.desk import RewardDesk, Taken
from abacus.engage.rewards.kind import REWARDS
from abacus.people.types.deed import Deed

PAGES: Final = StatedPages(REWARDS, RewardDesk)


@dataclass(frozen=True, kw_only=True)
class RewardPage(Page):
    """A version of one reward: that which the address names, or that in force, or else the latest. `newer` waits while
    this one is in force.
    """

    template: ClassVar[str] = "reward.html"
    reward: RewardRow
    newer: RewardRow | None
    sentences: Sequence[Sentence]
    document: str
    taken: Part[Taken]
    history: Sequence[VersionTold]
    act_options: Sequence[tuple[str, str]]
    may_edit: bool


async def reward(call: Call) -> RewardPage:
    history, now, desk = await PAGES.history(call), call.now, call.rooms[RewardDesk]
    record, free = PAGES.shown(call, history), await desk.free_codes()
    newer, name = PAGES.waiting(call, history, record), record.document.name
    return RewardPage(
        title=name,
        command=f"abacus rewards show {name}",
        reward=row_of(record, now, free),
        newer=row_of(newer, now, free) if newer is not None else None,
        sentences=sentences(REWARD_FORM, to_document(record.document)),
        document=to_toml(record.document),
        taken=await call.part(desk.taken(record.document)),
        history=versions_told(REWARDS, await desk.versions(name), now),
        act_options=PAGES.act_options(call, record),
        may_edit=call.may(Deed.EDIT_REWARDS, record.document.country),
    )

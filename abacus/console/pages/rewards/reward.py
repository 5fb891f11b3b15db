"""One reward: a version of it as sentences, what was taken, and what may be done to this version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.pages.rewards.reward_list import RewardRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import ASKED, Page, See
from abacus.console.web.parts import Part
from abacus.documents.decide.states import Act, State
from abacus.documents.form.sentences import Sentence, sentences
from abacus.engage.rewards.decide.reward_document import to_document, to_toml
from abacus.engage.rewards.decide.reward_form import REWARD_FORM
from abacus.engage.rewards.desk import RewardDesk, Taken
from abacus.engage.rewards.kind import REWARDS
from abacus.engage.rewards.reward_store import RewardRecord
from abacus.people.types.deed import Deed

_ACTS: Final[dict[State, tuple[Act, ...]]] = {
    State.DRAFT: (Act.SUBMIT, Act.END),
    State.SUBMITTED: (Act.WITHDRAW,),
    State.SCHEDULED: (Act.PAUSE, Act.END),
    State.RUNNING: (Act.PAUSE, Act.END),
    State.PAUSED: (Act.RESUME, Act.END),
}


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
    history, now, desk = await _history(call), call.now, call.rooms[RewardDesk]
    record, free = _shown(history, call.given("version")), await desk.free_codes()
    name = record.document.name
    waits = history[-1].state(now) in {State.DRAFT, State.SUBMITTED}
    return RewardPage(
        title=name,
        command=f"abacus rewards show {name}",
        reward=row_of(record, now, free),
        newer=row_of(history[-1], now, free) if waits and history[-1] is not record else None,
        sentences=sentences(REWARD_FORM, to_document(record.document)),
        document=to_toml(record.document),
        taken=await call.part(desk.taken(record.document)),
        history=versions_told(REWARDS, await desk.versions(name), now),
        act_options=[(act, act.capitalize()) for act in _acts(call, record)],
        may_edit=call.may(Deed.EDIT_REWARDS, record.document.country),
    )


async def move(call: Call) -> See:
    """Submits, withdraws, pauses, resumes or ends the version that was shown."""
    record = _shown(await _history(call), call.given("version"))
    version, desk = record.document, call.rooms[RewardDesk]
    call.check(Deed.EDIT_REWARDS, version.country)
    act, reason = call.form.get("act"), call.form.get("reason")
    if act not in _acts(call, record):
        raise call.wrong(f"{version.label} is {record.state(call.now)} by now.")
    if act == Act.SUBMIT:
        _, approval = await desk.submit(version, call.actor)
        return See(f"/approvals/{approval.approval_id}", ASKED)
    if not reason:
        raise call.wrong(reason="Say why, for the log.")
    moved = await desk.move(version, Act(act), reason, call.actor, version=version.version)
    said = f"{moved.document.label} is {moved.state(call.now)} now."
    return See(f"/rewards/{version.name}?version={version.version}", said)


async def _history(call: Call) -> Sequence[RewardRecord]:
    """All versions of the page's reward. Raises `PageFault` if it is not open to the person."""
    history = await call.rooms[RewardDesk].history(call.request.path_params["name"])
    if not history or not call.may(Deed.SEE, history[-1].document.country):
        raise PageFault("not-found", "No such reward is open to you.")
    return history


def _shown(history: Sequence[RewardRecord], version: str | None) -> RewardRecord:
    """The version of this number; without one, that in force, or else the latest. Raises `PageFault`."""
    if version is None:
        return next((each for each in history if each.in_force), history[-1])
    for each in history:
        if str(each.document.version) == version:
            return each
    raise PageFault("not-found", f"{history[-1].document.name} has no version {version}.")


def _acts(call: Call, record: RewardRecord) -> Sequence[str]:
    if not call.may(Deed.EDIT_REWARDS, record.document.country):
        return ()
    return tuple(act.value for act in _ACTS.get(record.state(call.now), ()))

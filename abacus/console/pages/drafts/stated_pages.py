"""What the pages of a kind with states share: which version is shown, and what may be done to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic

from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import ASKED, See
from abacus.documents.decide.states import Act, State
from abacus.documents.kind import Around
from abacus.documents.stated import Running, Stated, StatedKind
from abacus.documents.stated_desk import StatedDesk
from abacus.people.types.deed import Deed

_ACTS: Final[dict[State, tuple[Act, ...]]] = {
    State.DRAFT: (Act.SUBMIT, Act.END),
    State.SUBMITTED: (Act.WITHDRAW,),
    State.SCHEDULED: (Act.PAUSE, Act.END),
    State.RUNNING: (Act.PAUSE, Act.END),
    State.PAUSED: (Act.RESUME, Act.END),
    State.EXHAUSTED: (Act.END,),
}


@dataclass(frozen=True)
class StatedPages(Generic[Running, Around]):
    """The page of a document is `/PLURAL/{name}`, with a `version` where it is not the version in force."""

    kind: StatedKind[Running, Around]
    desk: type[StatedDesk[Running, Around]]

    async def history(self, call: Call) -> Sequence[Stated[Running]]:
        """All versions of the page's document. Raises `PageFault` if it is not open to the person."""
        history = await call.rooms[self.desk].history(call.request.path_params["name"])
        if not history or not call.may(Deed.SEE, self.kind.country(history[-1].document)):
            raise PageFault("not-found", f"No such {self.kind.word} is open to you.")
        return history

    def shown(self, call: Call, history: Sequence[Stated[Running]]) -> Stated[Running]:
        """The version that is named; without one, that in force, or else the latest. Raises `PageFault`."""
        version = call.given("version")
        if version is None:
            return next((each for each in history if each.in_force), history[-1])
        for each in history:
            if str(each.document.version) == version:
                return each
        raise PageFault("not-found", f"{self.kind.name(history[-1].document)} has no version {version}.")

    def waiting(self, call: Call, history: Sequence[Stated[Running]], shown: Stated[Running]) -> Stated[Running] | None:
        """A newer version that waits while another is shown."""
        waits = history[-1].state(call.now) in {State.DRAFT, State.SUBMITTED}
        return history[-1] if waits and history[-1] is not shown else None

    def act_options(self, call: Call, record: Stated[Running]) -> Sequence[tuple[str, str]]:
        """What the person may do to a version."""
        if not call.may(self.kind.deed, self.kind.country(record.document)):
            return ()
        return [(act.value, act.capitalize()) for act in _ACTS.get(record.state(call.now), ())]

    async def move(self, call: Call) -> See:
        """Submits, withdraws, pauses, resumes or ends the version that was shown."""
        record = self.shown(call, await self.history(call))
        version, desk, name = record.document, call.rooms[self.desk], self.kind.name(record.document)
        call.check(self.kind.deed, self.kind.country(version))
        act, reason = call.form.get("act"), call.form.get("reason")
        if act not in dict(self.act_options(call, record)):
            raise call.wrong(f"{version.label} is {record.state(call.now)} by now.")
        if act == Act.SUBMIT:
            _, approval = await desk.submit(version, call.actor)
            return See(f"/approvals/{approval.approval_id}", ASKED)
        if not reason:
            raise call.wrong(reason="Say why, for the log.")
        moved = await desk.move(version, Act(act), reason, call.actor, version=version.version)
        said = f"{moved.document.label} is {moved.state(call.now)} now."
        return See(f"/{self.kind.plural}/{name}?version={version.version}", said)

"""The pages of a kind with states: the list of its documents, which version of one is shown, and what may be done to
it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Generic, TypeAlias

from abacus.console.decide.bars import Bar
from abacus.console.pages.drafts.draft_kind import path_of
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.pages.stated.stated_row import StatedRow
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.faults import PageFault
from abacus.console.web.page import ASKED, Page, Said, See
from abacus.documents.decide.states import OUT_OF_FORCE, Act, State
from abacus.documents.form.sentences import Sentence, sentences
from abacus.documents.kind import Around
from abacus.documents.stated import Running, Stated, StatedKind
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.campaigns.decide.granting import GrantedBy
from abacus.engage.campaigns.grantors import Grantors
from abacus.people.types.deed import Deed

_MOST: Final = 50
_ACTS: Final[dict[State, tuple[Act, ...]]] = {
    State.DRAFT: (Act.SUBMIT, Act.END),
    State.SUBMITTED: (Act.WITHDRAW,),
    State.SCHEDULED: (Act.PAUSE, Act.END),
    State.RUNNING: (Act.PAUSE, Act.END),
    State.PAUSED: (Act.RESUME, Act.END),
    State.EXHAUSTED: (Act.END,),
}

BarsByName: TypeAlias = Mapping[str, Sequence[Bar]]


@dataclass(frozen=True, kw_only=True)
class StatedListPage(Page):
    """The latest version of each document, by name."""

    template: ClassVar[str] = "stated_list.html"
    about: str
    word: str
    path: str
    draft: str
    links: Sequence[tuple[str, str]]
    columns: Sequence[str]
    has_bars: bool
    list: Rows[StatedRow]
    chosen: str | None
    states: Sequence[str] = tuple(State)
    may_draft: bool


@dataclass(frozen=True)
class ShownVersion:
    """A version of a document: that which the address names, or that in force, or else the latest. `newer` waits while
    this one is in force. `states` has the state of each version, by its number.
    """

    word: str
    path: str
    draft: str
    row: StatedRow
    newer: StatedRow | None
    sentences: Sequence[Sentence]
    document: str
    history: Sequence[VersionTold]
    states: Mapping[int, str]
    act_options: Sequence[tuple[str, str]]
    may_edit: bool
    granted: GrantedBy | None


@dataclass(frozen=True, kw_only=True)
class StatedPages(Generic[Running, Around]):
    """The page of a document is `/PLURAL/{name}`, with a `version` where it is not the version in force. `told` has the
    kind's own words for a document, and `used` the bars of documents, by name. `links` stand above the list. Campaigns
    grant documents of a kind that `is_granted`.
    """

    kind: StatedKind[Running, Around]
    desk: type[StatedDesk[Running, Around]]
    title: str
    about: str
    used: Callable[[Call, Sequence[Running]], Awaitable[BarsByName]] | None = None  # of a kind with limits
    told: Mapping[str, Callable[[Running], str]] = field(default_factory=dict)
    links: Sequence[tuple[str, str]] = ()
    is_granted: bool = False

    @property
    def path(self) -> str:
        return f"/{self.kind.plural}"

    async def listed(self, call: Call) -> StatedListPage:
        state, desk, command = call.chosen("state", State), call.rooms[self.desk], self.kind.command
        countries, after = call.countries(Deed.SEE), call.asked("after")
        found = await desk.page(countries=countries, state=state, after=after, limit=_MOST + 1)
        shown = found[:_MOST]
        more = call.next_page(self.kind.name(shown[-1].document)) if len(found) > _MOST else None
        bars = {} if self.used is None else await self.used(call, [each.document for each in shown])
        rows = [self.row(call, each, bars.get(self.kind.name(each.document), ())) for each in shown]
        return StatedListPage(
            title=self.title,
            command=f"abacus {command} list --state {state}" if state else f"abacus {command} list",
            about=self.about,
            word=self.kind.word,
            path=self.path,
            draft=path_of(command),
            links=self.links,
            columns=list(self.told),
            has_bars=self.used is not None,
            list=Rows(rows, more),
            chosen=state,
            may_draft=call.may_somewhere(self.kind.deed),
        )

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

    async def version(self, call: Call, history: Sequence[Stated[Running]], record: Stated[Running]) -> ShownVersion:
        """What every page of a version shows."""
        kind, document = self.kind, record.document
        name, newer = kind.name(document), self._waiting(call, history, record)
        return ShownVersion(
            word=kind.word,
            path=f"{self.path}/{name}",
            draft=path_of(kind.command),
            row=self.row(call, record),
            newer=self.row(call, newer) if newer is not None else None,
            sentences=sentences(kind.form, kind.to_document(document)) if kind.form is not None else (),
            document=kind.to_toml(document),
            history=versions_told(kind, await call.rooms[self.desk].versions(name), call.now),
            states={each.document.version: each.state(call.now) for each in reversed(history)},
            act_options=self.act_options(call, record),
            may_edit=call.may(kind.deed, kind.country(document)),
            granted=await self._granted(call, document),
        )

    def row(self, call: Call, record: Stated[Running], used: Sequence[Bar] = ()) -> StatedRow:
        document = record.document
        return StatedRow(
            name=self.kind.name(document),
            version=document.version,
            about=str(self.kind.to_document(document).get("about", "")),
            country=self.kind.country(document) or "",
            state=record.state(call.now),
            told={about: words(document) for about, words in self.told.items()},
            starts_at=document.starts_at,
            ends_at=document.ends_at,
            changed_at=record.changed_at,
            changed_by=record.changed_by,
            used=used,
        )

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
        said = Said(f"{moved.document.label} is {moved.state(call.now)} now.")
        granted = await self._granted(call, moved.document) if act in OUT_OF_FORCE else None
        if granted is not None and granted.campaigns:
            said = Said(f"{said.text} It is {granted.words}.", "waiting" if granted.refused else said.tone)
        return See(f"{self.path}/{name}?version={version.version}", said)

    async def _granted(self, call: Call, document: Running) -> GrantedBy | None:
        return await Grantors(call.reading.pool).standing(document, call.rooms[self.desk]) if self.is_granted else None

    def _waiting(
        self, call: Call, history: Sequence[Stated[Running]], shown: Stated[Running]
    ) -> Stated[Running] | None:
        """A newer version that waits while another is shown."""
        waits = history[-1].state(call.now) in {State.DRAFT, State.SUBMITTED}
        return history[-1] if waits and history[-1] is not shown else None

"""Trials of drafts: errands that say what exactly this document would do, be it published or not."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.trials import TrialWords
from abacus.console.decide.typed import day
from abacus.console.errands.types import Order
from abacus.console.pages.drafts.draft_kind import DraftKind, TrialKind
from abacus.console.pages.operations.errands import Done, ask, done_of, newest, open_to
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page, See
from abacus.documents.kind import Around
from abacus.documents.types import Document
from abacus.people.types.deed import Deed

_BACKTEST: Final = "backtest"


@dataclass(frozen=True)
class Trial:
    """An errand with what it says of the draft, once it is done."""

    title: str
    address: str
    done: Done
    words: TrialWords | None


@dataclass(frozen=True)
class TrialForm:
    """The fields for one more trial, and its button; it `waits` without either until nothing is left to mend."""

    title: str
    fields: Sequence[FormField]
    act: str
    button: str
    note: str
    waits: bool


@dataclass(frozen=True, kw_only=True)
class Trying:
    """How something is tried that waits for a second person: its trials, shown on the page of a path; and how the usual
    trial is asked for, if there is one, and what nobody has looked at without it. Where `usual` names its errands, one
    is enough. `page` has more of it, for people who may do the deed there.
    """

    title: str
    trials: Callable[[Call, str], Awaitable[Sequence[Trial]]]
    page: str | None
    page_says: str
    deed: Deed = Deed.SEE
    says: str = ""
    button: str = ""
    ask: Callable[[Call, str], Awaitable[See | None]] | None = None
    usual: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrialPage(Page):
    """One trial."""

    template: ClassVar[str] = "trial.html"
    trial: Trial


def trial_page(drafts: DraftKind[Document, Around]) -> Callable[[Call], Awaitable[TrialPage]]:
    async def trial(call: Call) -> TrialPage:
        found = await open_to(call, call.request.path_params["trial"])
        for each in drafts.trials:
            if each.errand == found.kind:
                return TrialPage(
                    title=f"Trial of {found.subject.partition(' ')[0]}",
                    command=found.command,
                    trial=_trial(drafts, each, await done_of(call, found)),
                )
        raise PageFault("not-found", f"This task is no trial of a {drafts.kind.word}.")

    return trial


async def try_draft(
    call: Call,
    drafts: DraftKind[Document, Around],
    act: str,
    typed: Form,
    draft: Document,
    *,
    path: str,
    around: Around | None = None,
) -> See | None:
    """Asks for the trial that the act names, and goes on to the page that shows it. Raises `WrongForm`."""
    kind = drafts.kind
    for trial in _in(drafts, around):
        if trial.act == act:
            file, (options, papers) = f"{kind.word}.toml", trial.order(typed, draft)
            arguments = (kind.command, act, file, *options, "--json")
            papers = {file: kind.to_toml(draft), **papers}
            order = Order(trial.errand, _subject(drafts, draft), kind.country(draft), arguments, papers)
            return await ask(call, order, path)
    return None


def trying_of(drafts: DraftKind[Document, Around], draft: Document) -> Trying:
    """A backtest over the days that the kind usually takes is the usual trial, where there are backtests."""
    backtest = next((each for each in drafts.trials if each.act == _BACKTEST), None)

    async def trials(call: Call, _: str) -> Sequence[Trial]:
        return await trials_of(call, drafts, draft)

    async def ask_for_it(call: Call, path: str) -> See | None:
        fields = () if backtest is None else backtest.fields(call, draft)
        usual = Form({each.name: each.value for each in fields})
        return await try_draft(call, drafts, _BACKTEST, usual, draft, path=path)

    return Trying(
        title="What it costs, and whom it reaches",
        trials=trials,
        page=drafts.tried_at(draft),
        page_says="Try it in other ways",
        says="Nobody has looked yet at what it would have done with earlier transactions.",
        button="Run the backtest",
        ask=None if backtest is None else ask_for_it,
        usual=None if backtest is None else backtest.errand,
    )


async def trials_of(call: Call, drafts: DraftKind[Document, Around], draft: Document) -> Sequence[Trial]:
    """The newest of each kind, of exactly this document. Raises `Unavailable`."""
    found = [(each, await newest(call, each.errand, _subject(drafts, draft))) for each in drafts.trials]
    return [_trial(drafts, each, done) for each, done in found if done is not None]


def trial_forms(
    call: Call, drafts: DraftKind[Document, Around], draft: Document | None, around: Around | None = None
) -> Sequence[TrialForm]:
    """Without a draft while it is at fault."""
    return [
        TrialForm(
            title=each.title,
            fields=() if draft is None else each.fields(call, draft),
            act=each.act,
            button=each.button,
            note=each.note,
            waits=draft is None,
        )
        for each in _in(drafts, around)
    ]


def _in(drafts: DraftKind[Document, Around], around: Around | None) -> Sequence[TrialKind[Document]]:
    return drafts.trials if around is None else drafts.trials_in(around)


def days_of(typed: Form) -> tuple[date, date]:
    """The first day and the last, as they were typed. Raises `WrongForm`."""
    days = {name: day(typed.get(name)) for name in ("since", "until")}
    since, until = days.values()
    if since is None or until is None:
        odd = [name for name, at in days.items() if at is None]
        raise WrongForm(typed.but(**dict.fromkeys(odd, "Write a day as 2026-11-23.")))
    if until < since:
        raise WrongForm(typed.but(until="It is before the first day."))
    return since, until


def day_fields(since: date, until: date) -> Sequence[FormField]:
    return [
        FormField("since", "From", since.isoformat(), type="date"),
        FormField("until", "To", until.isoformat(), type="date"),
    ]


def _subject(drafts: DraftKind[Document, Around], draft: Document) -> str:
    """The name, and a digest of the document: a version and the draft that it was made of are one."""
    text = json.dumps(drafts.kind.to_document(draft), sort_keys=True, default=str)
    return f"{drafts.kind.name(draft)} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _trial(drafts: DraftKind[Document, Around], trial: TrialKind[Document], done: Done) -> Trial:
    words = None if done.document is None else trial.words(done.document)
    return Trial(trial.title, f"{drafts.trials_path}/{done.errand.errand_id}", done, words)

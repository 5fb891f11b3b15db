"""Tasks: errands, commands that the console runs for people, what they printed, and the files that they wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

import orjson

from abacus.console.decide.named import Named
from abacus.console.decide.tasks import about_of, words_of
from abacus.console.decide.typed import midnight_of
from abacus.console.errands.decide.documents import Fact, Table, csv_of, facts_of, tables_of
from abacus.console.errands.decide.file_names import file_name
from abacus.console.errands.metrics import ERRANDS_REFUSED
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, Narrowed, Order, State, TooMany
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import Download, Page, Said, See
from abacus.people.types.deed import Deed

_MOST: Final = 50
_NARROWS: Final = ("state", "kind", "country", "day")
_ANY: Final = ("", "any")
_MEDIA_TYPES: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_BYTES: Final = "application/octet-stream"


@dataclass(frozen=True)
class Done:
    """An errand with what came of it so far. `document` is what the command printed."""

    errand: Errand
    document: Any
    facts: Sequence[Fact]
    tables: Sequence[Table]
    files: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ErrandPage(Page):
    """One errand."""

    template: ClassVar[str] = "errand.html"
    done: Done
    may_cancel: bool


@dataclass(frozen=True)
class Task:
    """An errand in a list, in words; `about` is what it is about."""

    errand_id: UUID
    words: str
    about: Named
    country: str | None
    asked_by: str
    asked_at: datetime
    state: State
    exit_code: int | None


@dataclass(frozen=True, kw_only=True)
class TasksPage(Page):
    """The tasks that the person may see, the newest first, and what they may be narrowed to."""

    template: ClassVar[str] = "errands.html"
    list: Rows[Task]
    states: Sequence[tuple[str, str]]
    kinds: Sequence[tuple[str, str]]
    countries: Sequence[tuple[str, str]]


async def ask(call: Call, order: Order, path: str, said: Said | None = None) -> See:
    """Has the command run for the person, and goes on to the page that shows it. A form that is sent twice is one
    errand, and so is an order that the person gave before and that still waits or runs. Raises `PageFault` for somebody
    who has too many.
    """
    try:
        await call.rooms[ErrandStore].ask(call.form.key, order, call.actor.name)
    except TooMany as error:
        ERRANDS_REFUSED.inc()
        raise PageFault("too-many-errands", str(error)) from None
    return See(path, said)


async def done_of(call: Call, errand: Errand) -> Done:
    """With its document, where it has one."""
    store = call.rooms[ErrandStore]
    if errand.state.is_open:
        return Done(errand, None, (), (), ())
    document = await store.output(errand.errand_id)
    return Done(errand, document, facts_of(document), tables_of(document), await store.files(errand.errand_id))


async def newest(call: Call, kind: str, subject: str) -> Done | None:
    """The last errand of this kind and subject. Raises `Unavailable`."""
    found = await call.rooms[ErrandStore].newest(kind, subject)
    return await done_of(call, found[0]) if found and call.may(Deed.SEE, found[0].country) else None


async def errands(call: Call) -> TasksPage:
    store, countries = call.rooms[ErrandStore], call.countries(Deed.SEE)
    sorts = await store.kinds_and_countries(countries)
    kinds = {kind: words_of(kind) for kind, _ in sorts}
    form = call.narrowed(*_NARROWS).with_one_of("state", list(State)).with_one_of("kind", kinds).with_days("day")
    found: Sequence[Errand] = ()
    if not form.wrong:
        narrowed = _narrowed(form, call.session.zone)
        found = await store.all(countries, after=place_of(call, UUID), limit=_MOST + 1, narrowed=narrowed)
    return TasksPage(
        title="Tasks",
        list=rows_of(call, [task_of(each) for each in found], _MOST, lambda each: (each.asked_at, each.errand_id)),
        states=[_ANY, *((each, each) for each in State)],
        kinds=[_ANY, *sorted(kinds.items(), key=lambda each: each[1])],
        countries=[_ANY, *((each, each) for each in sorted({country for _, country in sorts if country}))],
        form=form,
    )


async def errand(call: Call) -> ErrandPage:
    shown = await _open_to(call)
    return ErrandPage(
        title=f"{words_of(shown.kind)}: {about_of(shown.kind, shown.subject).name}",
        command=shown.command,
        done=await done_of(call, shown),
        may_cancel=shown.state.is_open and _is_mine(call, shown),
    )


async def cancel(call: Call) -> Page | See:
    """The person who asked for the errand may end it, and an operator of the house."""
    shown = await _open_to(call)
    if not _is_mine(call, shown):
        raise PageFault("role-needed", f"{shown.asked_by} asked for it.")
    await call.rooms[ErrandStore].cancel(shown.errand_id, by=call.actor.name)
    return See(f"/tasks/{shown.errand_id}", "The task is cancelled.")


async def kept_file(call: Call) -> Download:
    shown, name = await _open_to(call), call.request.path_params["file"]
    content = await call.rooms[ErrandStore].file(shown.errand_id, name)
    if content is None:
        raise PageFault("not-found", "The task has no such file.")
    return Download(name, _MEDIA_TYPES.get(name.rpartition(".")[2], _BYTES), content)


async def document(call: Call) -> Download:
    """What the command printed, as it stands."""
    shown = await _open_to(call)
    content = await call.rooms[ErrandStore].output(shown.errand_id)
    if content is None:
        raise PageFault("not-found", "The task has printed no document.")
    return Download(file_name(shown, "json"), _MEDIA_TYPES["json"], orjson.dumps(content, option=orjson.OPT_INDENT_2))


async def table(call: Call) -> Download:
    """A list of the document, whole, as CSV."""
    shown, name = await _open_to(call), call.request.path_params["table"]
    content = csv_of(await call.rooms[ErrandStore].output(shown.errand_id), name)
    if content is None:
        raise PageFault("not-found", "The task has no such table.")
    return Download(file_name(shown, "csv", name), _MEDIA_TYPES["csv"], content)


async def open_to(call: Call, errand_id: UUID) -> Errand:
    """Raises `PageFault` for an errand that the person may not see."""
    found = await call.rooms[ErrandStore].find(errand_id)
    if found is None or not call.may(Deed.SEE, found.country):
        raise PageFault("not-found", "No such task is open to you.")
    return found


def _narrowed(form: Form, zone: str) -> Narrowed:
    """The day is the reader's."""
    return Narrowed(
        state=State(form.get("state")) if form.get("state") else None,
        kind=form.get("kind") or None,
        country=form.get("country") or None,
        since=midnight_of(form.get("day"), zone),
        until=midnight_of(form.get("day"), zone, later=1),
    )


def task_of(of: Errand) -> Task:
    about = about_of(of.kind, of.subject)
    return Task(of.errand_id, words_of(of.kind), about, of.country, of.asked_by, of.asked_at, of.state, of.exit_code)


async def _open_to(call: Call) -> Errand:
    return await open_to(call, call.request.path_params["id"])


def _is_mine(call: Call, shown: Errand) -> bool:
    return shown.asked_by == call.actor.name or call.may(Deed.RUN_JOBS, None)

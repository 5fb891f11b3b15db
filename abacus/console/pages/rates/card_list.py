"""Rate cards: each scope's cards along time, taken back before they begin, and restored from a day on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.approving.card_desk import CardDesk
from abacus.console.decide.typed import local_moment
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import ASKED, Page, See
from abacus.core.errors import Refused, SetAside
from abacus.documents.types import Record
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard, RateCard, country_of, to_toml
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.decide.timeline import Phase, Span, next_of, place_of, published_card, timeline
from abacus.pricing.kind import CARDS
from abacus.pricing.store.cards import CardReader


@dataclass(frozen=True)
class ScopeRow:
    """A country or a partner, with the card in force there and the card that takes over next."""

    scope: str
    program: str
    in_force: str | None
    since: datetime | None
    next: str | None
    next_from: datetime | None


@dataclass(frozen=True, kw_only=True)
class RatesPage(Page):
    """The scopes."""

    template: ClassVar[str] = "rates.html"
    scopes: Sequence[ScopeRow]
    may_draft: bool


@dataclass(frozen=True)
class SpanRow:
    """A version on the timeline."""

    name: str
    version: int
    phase: str
    effective_from: datetime
    until: datetime | None
    published_at: datetime
    published_by: str
    approved_by: str | None
    withdrawn: str | None


@dataclass(frozen=True, kw_only=True)
class ScopePage(Page):
    """The timeline of a scope, and one version of it with what it changed."""

    template: ClassVar[str] = "rate.html"
    scope: str
    country: str | None
    zone: str
    spans: Sequence[SpanRow]
    shown: SpanRow
    text: str
    against: str | None
    changes: Sequence[str]
    may_withdraw: bool
    may_restore: bool
    history: Sequence[VersionTold]


async def rates(call: Call) -> RatesPage:
    book, now = call.rooms[CardReader].book(), call.now
    return RatesPage(
        title="Rates",
        command="abacus rates list",
        scopes=[_scope(book, scope, now) for scope in book.scopes() if call.may(Deed.SEE, country_of(scope))],
        may_draft=call.may_somewhere(Deed.PUBLISH_RATES),
    )


async def scope(call: Call) -> ScopePage:
    return _page(call, await history_of(call))


async def withdraw(call: Call) -> Page | See:
    """The version that was shown."""
    history = await history_of(call)
    name, version, reason = _name(history), _version_of(call, history), call.form.get("reason")
    call.check(Deed.PUBLISH_RATES, country_of(name))
    if not reason:
        return _page(call, history, form=call.form.shown().but(reason="Say why; it is kept with the card."))
    try:
        await call.rooms[CardDesk].take_back(name, version, reason, call.actor)
    except Refused as fault:
        return _page(call, history, form=call.form.shown(), fault=str(fault))
    await call.rooms[CardReader].refresh()
    return See(f"/rates/{name}?version={version}", f"{name}@{version} is withdrawn. It will never be in force.")


async def restore(call: Call) -> Page | See:
    """Asks for the version that was shown, from another time on. A second person decides."""
    history = await history_of(call)
    name, version = _name(history), _version_of(call, history)
    call.check(Deed.PUBLISH_RATES, country_of(name))
    start = local_moment(call.form.get("start"), history[-1].document.timezone)
    if start is None:
        return _page(call, history, form=call.form.shown().but(start="Write a day and a time."))
    try:
        approval = await call.rooms[CardDesk].restore(name, version, start, call.actor)
    except (CannotDecide, Refused) as fault:
        return _page(call, history, form=call.form.shown(), fault=str(fault))
    return See(f"/approvals/{approval.approval_id}", ASKED)


async def history_of(call: Call, name: str | None = None) -> Sequence[Record[RateCard]]:
    """All versions of the scope, or of the page's scope. Raises `PageFault` if it is not open to the person."""
    scope_ = name or call.request.path_params["scope"]
    history = await call.rooms[CardDesk].history(scope_) if call.may(Deed.SEE, country_of(scope_)) else ()
    if not history:
        raise PageFault("not-found", "No such rates are open to you.")
    return history


def _page(
    call: Call, history: Sequence[Record[RateCard]], *, form: Form = EMPTY, fault: str | None = None
) -> ScopePage:
    spans = timeline(history, call.now)
    shown = _shown(call, history, spans)
    published, name = shown.published, _name(history)
    others = [each for each in history if each.version.number < published.version]
    displaced = place_of(published.card, map(published_card, others)).displaced
    may_publish = call.may(Deed.PUBLISH_RATES, country_of(name))
    return ScopePage(
        title=f"Rates of {name}",
        command=f"abacus rates timeline {name}",
        scope=name,
        country=country_of(name),
        zone=published.card.timezone,
        spans=[_row(each) for each in reversed(spans)],
        shown=_row(shown),
        text=to_toml(published.card),
        against=displaced.name if displaced else None,
        changes=describe_changes(displaced.card if displaced else None, published.card),
        may_withdraw=may_publish and shown.phase is Phase.SCHEDULED,
        history=versions_told(CARDS, history, call.now),
        may_restore=may_publish and shown.phase in {Phase.PAST, Phase.SUPERSEDED, Phase.WITHDRAWN},
        form=form,
        fault=fault,
    )


def _shown(call: Call, history: Sequence[Record[RateCard]], spans: Sequence[Span]) -> Span:
    """The version that was asked for, or else that in force, or else the latest."""
    wanted = call.form.get("version") or call.asked("version")
    if wanted is not None:
        version = _version_of(call, history)
        return next(each for each in spans if each.published.version == version)
    return next((each for each in spans if each.phase is Phase.IN_FORCE), spans[-1])


def _version_of(call: Call, history: Sequence[Record[RateCard]]) -> int:
    """Raises `PageFault` for a number that no version has."""
    wanted = call.form.get("version") or call.asked("version")
    for each in history:
        if str(each.version.number) == wanted:
            return each.version.number
    raise PageFault("not-found", f"{_name(history)} has no version {wanted}.")


def _scope(book: CardBook, scope_: str, now: datetime) -> ScopeRow:
    following = next_of(book, scope_, now)
    current: PublishedCard | None
    try:
        current = book.expected(scope_, now)
    except SetAside:  # its first card begins later
        current = None
    return ScopeRow(
        scope=scope_,
        program=book.versions(scope_)[-1].card.program,
        in_force=current.name if current else None,
        since=current.card.effective_from if current else None,
        next=following.name if following else None,
        next_from=following.card.effective_from if following else None,
    )


def _row(span: Span) -> SpanRow:
    record, published, withdrawal = span.record, span.published, span.record.version.withdrawal
    return SpanRow(
        name=published.name,
        version=published.version,
        phase=span.phase,
        effective_from=published.card.effective_from,
        until=span.until,
        published_at=record.published_at,
        published_by=record.published_by,
        approved_by=record.version.own["approved_by"],
        withdrawn=f"by {withdrawal.by}: {withdrawal.reason}" if withdrawal else None,
    )


def _name(history: Sequence[Record[RateCard]]) -> str:
    return history[-1].document.scope

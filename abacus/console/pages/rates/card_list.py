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
from abacus.console.web.page import ASKED, Page, See
from abacus.core.errors import SetAside
from abacus.documents.types import Record
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
    history = await history_of(call)
    spans = timeline(history, call.now)
    shown = _shown(spans, call.given("version"))
    published = shown.published
    name, country = published.card.scope, country_of(published.card.scope)
    others = [each for each in history if each.version.number < published.version]
    displaced = place_of(published.card, map(published_card, others)).displaced
    may_publish = call.may(Deed.PUBLISH_RATES, country)
    return ScopePage(
        title=f"Rates of {name}",
        command=f"abacus rates timeline {name}",
        scope=name,
        country=country,
        zone=published.card.timezone,
        spans=[_row(each) for each in reversed(spans)],
        shown=_row(shown),
        text=to_toml(published.card),
        against=displaced.name if displaced else None,
        changes=describe_changes(displaced.card if displaced else None, published.card),
        may_withdraw=may_publish and shown.phase is Phase.SCHEDULED,
        history=versions_told(CARDS, history, call.now),
        may_restore=may_publish and shown.phase in {Phase.PAST, Phase.SUPERSEDED, Phase.WITHDRAWN},
    )


async def withdraw(call: Call) -> See:
    """The version that was shown."""
    shown, reason = await _sent(call), call.form.get("reason")
    if not reason:
        raise call.wrong(reason="Say why; it is kept with the card.")
    await call.rooms[CardDesk].take_back(shown.card.scope, shown.version, reason, call.actor)
    await call.rooms[CardReader].refresh()
    path = f"/rates/{shown.card.scope}?version={shown.version}"
    return See(path, f"{shown.name} is withdrawn. It will never be in force.")


async def restore(call: Call) -> See:
    """Asks for the version that was shown, from another time on. A second person decides."""
    shown = await _sent(call)
    start = local_moment(call.form.get("start"), shown.card.timezone)
    if start is None:
        raise call.wrong(start="Write a day and a time.")
    approval = await call.rooms[CardDesk].restore(shown.card.scope, shown.version, start, call.actor)
    return See(f"/approvals/{approval.approval_id}", ASKED)


async def history_of(call: Call) -> Sequence[Record[RateCard]]:
    """All versions of the page's scope. Raises `PageFault` if it is not open to the person."""
    name = call.request.path_params["scope"]
    history = await call.rooms[CardDesk].history(name) if call.may(Deed.SEE, country_of(name)) else ()
    if not history:
        raise PageFault("not-found", "No such rates are open to you.")
    return history


async def _sent(call: Call) -> PublishedCard:
    """The version that the form is about. Raises `PageFault` for a person who may not publish it."""
    shown = _shown(timeline(await history_of(call), call.now), call.form.get("version")).published
    call.check(Deed.PUBLISH_RATES, country_of(shown.card.scope))
    return shown


def _shown(spans: Sequence[Span], version: str | None) -> Span:
    """The version of this number; without one, that in force, or else the latest. Raises `PageFault`."""
    if version is None:
        return next((each for each in spans if each.phase is Phase.IN_FORCE), spans[-1])
    for each in spans:
        if str(each.published.version) == version:
            return each
    raise PageFault("not-found", f"{spans[-1].published.card.scope} has no version {version}.")


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

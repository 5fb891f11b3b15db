"""One exchange: where it stands, in whose hands its points are, how it came there, and what may be done of it."""

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, NamedTuple

from abacus.console.decide.reasons import LONGEST
from abacus.console.pages.exchanges.exchange_row import ExchangeRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import DoneBefore
from abacus.console.web.page import Page, See
from abacus.exchanges.books.break_rows import FoundBreak
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import Exchange, State, Turn, award_key, ledger_key
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.turn import Verdict
from abacus.exchanges.decide.words import hands_in_words, in_words
from abacus.exchanges.exchange_deeds import ExchangeDeeds, Told
from abacus.exchanges.link_desk import LinkDesk
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also

_CANCEL: Final = "cancel"
_REVERSE: Final = "reverse"
_NOT_SENT: Final = frozenset({State.REVIEW, State.HELD})
_VERDICTS: Final = {
    Verdict.ASK: "Ask the partner again",
    Verdict.CANCEL: "Ask the partner to refuse it for good: the points come back when it has",
    Verdict.CREDITED: "The partner has credited it: the held points are taken",
}
_SAID: Final = {
    _CANCEL: "It is cancelled, and the points are free again.",
    _REVERSE: "The partner is asked to take it back. The points come back when it has.",
    Verdict.ASK: "The partner is asked again.",
    Verdict.CANCEL: "The partner is asked to refuse it for good.",
    Verdict.CREDITED: "It is credited.",
}


class TrailRow(NamedTuple):
    """It came to a state. `detail` has the partner's own words, or a person's."""

    at: datetime
    state: str
    words: str
    detail: str | None
    by: str


class Linked(NamedTuple):
    """The account at the partner; of its number the end alone, and nothing once it is forgotten."""

    link_id: str
    number: str


@dataclass(frozen=True, kw_only=True)
class ExchangePage(Page):
    """`hands`: in whose hands the points are. `transfers` are the keys of what moved them, and `review` is what a
    second person is asked.
    """

    template: ClassVar[str] = "exchange.html"
    row: ExchangeRow
    words: str
    hands: str
    detail: str | None
    reference: str | None
    sent_at: datetime | None
    credited_at: datetime | None
    ended_at: datetime | None
    late_at: datetime | None
    due_at: datetime | None
    file: str | None
    reversible_until: datetime | None
    trail: Sequence[TrailRow]
    transfers: Sequence[str]
    link: Linked | None
    breaks: Sequence[FoundBreak]
    review: Approval | None
    may_cancel: bool
    may_reverse: bool
    verdicts: Sequence[tuple[str, str]]


async def exchange(call: Call) -> ExchangePage:
    found = await _found(call)
    told = await call.rooms[ExchangeDeeds].told(found)
    may_move = call.may(Deed.MOVE_POINTS, found.country)
    return ExchangePage(
        title=f"{found.points:,} points of {found.member_id or 'nobody'}, {found.programme or found.partner}",
        command=f"abacus exchanges get {found.exchange_id}",
        row=row_of(found, call.now),
        words=in_words(found),
        hands=hands_in_words(found),
        detail=found.detail,
        reference=found.reference,
        sent_at=found.sent_at,
        credited_at=found.credited_at,
        ended_at=found.ended_at,
        late_at=found.late_at,
        due_at=found.due_at,
        file=found.file,
        reversible_until=told.reversible_until,
        trail=[_turned(each) for each in told.turns],
        transfers=_transfers(found),
        link=await _link(call, found),
        breaks=await BooksDesk(call.reading.pool, call.premises.clock).of_exchange(found.exchange_id),
        review=await _review(call, found),
        may_cancel=may_move and found.state in _NOT_SENT,
        may_reverse=may_move and _is_reversible(told),
        verdicts=[*_VERDICTS.items()] if may_move and found.state is State.ASIDE else [],
    )


async def cancel(call: Call) -> See:
    """Before it was sent."""
    found = await _to_move(call)
    also = _noted(call, found, _CANCEL, _reason(call))
    return await _done(call, call.rooms[ExchangeDeeds].cancel(found, call.actor.agent, also=also), _CANCEL)


async def reverse(call: Call) -> See:
    """Asks the partner to take it back."""
    found = await _to_move(call)
    also = _noted(call, found, _REVERSE, _reason(call))
    return await _done(call, call.rooms[ExchangeDeeds].reverse(found, call.actor.agent, also=also), _REVERSE)


async def settle(call: Call) -> See:
    """Decides of an exchange that was set aside."""
    found, verdict = await _to_move(call), call.chosen("verdict", Verdict)
    if verdict is None:
        raise call.wrong(verdict="Say what becomes of it.")
    reason = _reason(call)
    also = _noted(call, found, f"settle-{verdict}", reason)
    return await _done(
        call, call.rooms[ExchangeDeeds].settle(found, verdict, reason, call.actor.agent, also=also), verdict
    )


def _reason(call: Call) -> str:
    """Raises `WrongForm`."""
    reason = call.form.get("reason")
    if not reason or len(reason) > LONGEST:
        raise call.wrong(reason=f"Say why, in at most {LONGEST} characters.")
    return reason


async def _done(call: Call, doing: Awaitable[Exchange], did: str) -> See:
    with suppress(DoneBefore):
        await doing
    return See(call.request.url.path.rpartition("/")[0], _SAID[did])


def _noted(call: Call, found: Exchange, did: str, reason: str) -> Also:
    details = {"did": f"{did}-exchange", "of": found.programme, "exchange": str(found.exchange_id), "reason": reason}
    return call.once(call.told(Deed.MOVE_POINTS, f"member:{found.member_id}", country=found.country, **details))


async def _to_move(call: Call) -> Exchange:
    found = await _found(call)
    call.check(Deed.MOVE_POINTS, found.country)
    return found


async def _found(call: Call) -> Exchange:
    """Raises `PageFault` for what is not there, or not open to the person."""
    found = await call.rooms[ExchangeDeeds].one(call.request.path_params["id"])
    if found is None or found.state is State.QUOTED or not call.may(Deed.SEE, found.country):
        raise PageFault("not-found", "No such exchange is open to you.")
    return found


async def _link(call: Call, found: Exchange) -> Linked | None:
    link = await call.rooms[LinkDesk].of_id(found.link_id)
    return None if link is None else Linked(str(link.link_id), link.shown)


async def _review(call: Call, found: Exchange) -> Approval | None:
    """An approval of an exchange has the id of it."""
    asked = await call.rooms[Approvals].some([found.exchange_id])
    return next((each for each in asked if each.kind == ApprovalKind.EXCHANGE), None)


def _is_reversible(told: Told) -> bool:
    return told.exchange.state is State.CAPTURED and told.reversible_until is not None


def _transfers(found: Exchange) -> list[str]:
    if found.direction is Direction.IN:
        return [award_key(found.partner, found.reference or "")] if found.state is State.AWARDED else []
    acts = {
        State.CAPTURED: ["capture"],
        State.REVERSING: ["capture"],
        State.TAKEN_BACK: ["capture"],
        State.REVERSED: ["capture", "reverse"],
    }
    return [ledger_key(found.exchange_id, each) for each in acts.get(found.state, [])]


def _turned(each: Turn) -> TrailRow:
    return TrailRow(each.at, each.state, in_words(each), each.detail, each.by)

"""Members: looked up by the exact id; the accounts, holds and lots of one, and a timeline of its transfers."""

import asyncio
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from urllib.parse import quote, unquote, urlencode
from uuid import UUID

from abacus.console.decide.tier_progress import TierProgress
from abacus.console.errands.types import ERASE
from abacus.console.pages.members.member_life import campaigns_shown, messages_shown, tiers_shown
from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import Unavailable
from abacus.core.ids import ID_PATTERN
from abacus.engage.campaigns.progress_rows import MemberProgress
from abacus.engage.notify.notifications import MemberMessage
from abacus.intake.partners.members import AccountAsOf
from abacus.ledger.store.read import RemainingLot
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.positions import FROM_THE_NEWEST, read_positions, text_of
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read
from abacus.pricing.explanation.words import in_words
from abacus.pricing.store.cards import CardReader
from abacus.proof.decide.recompute import recompute

_ON_PAGE: Final = 25
_LOTS: Final = 20  # of each account


@dataclass(frozen=True, kw_only=True)
class MembersPage(Page):
    """Where an id is typed."""

    template: ClassVar[str] = "members.html"


@dataclass(frozen=True)
class Told:
    """A transfer with its explanation in words. `recomputed` is what differs when it is calculated again; None where
    nothing does, or where that cannot be told: then `unknown` says why.
    """

    id: str
    key: str
    program: str
    kind: str
    points: int
    balance_after: int
    country: str
    posted_at: datetime
    occurred_at: datetime
    by: str | None
    reverses: str | None
    words: Sequence[str]
    recomputed: str | None
    unknown: str | None


@dataclass(frozen=True)
class May:
    """What the person may do in some country of the member's."""

    adjust: bool
    reverse: bool
    move: bool
    erase: bool


@dataclass(frozen=True, kw_only=True)
class MemberPage(Page):
    """One member, as far as its countries are open to the person. `asked` is the approval that was just asked for."""

    template: ClassVar[str] = "member.html"
    member_id: str
    address: str
    accounts: Part[Sequence[AccountAsOf]]
    holds: Part[Sequence[Hold]]
    lots: Part[Sequence[RemainingLot]]
    timeline: Part[Rows[Told]]
    tiers: Part[Sequence[TierProgress]]
    messages: Part[Sequence[MemberMessage]]
    campaigns: Part[Sequence[MemberProgress]]
    may: May
    asked: UUID | None
    reverses: str | None
    erase: str
    erases: bool
    erasing: Part[Done | None]

    @property
    def is_unknown(self) -> bool:
        """Whether no account of the member is there, as far as the person may know."""
        return self.accounts.value is not None and not self.accounts.value


def address_of(member_id: str) -> str:
    return f"/members/{quote(member_id, safe='')}"


def member_of(call: Call) -> str:
    """The member of the address, in which a slash of an id is written as `%2F`. Raises `PageFault`."""
    scope = call.request.scope
    parts = scope["raw_path"].split(b"/")
    if len(parts) != scope["route"].path.count("/") + 1:
        raise PageFault("not-found", "There is no such page. The slash of an id is written as %2F.")
    member_id = unquote(parts[2].decode("latin-1"), errors="replace")
    if re.fullmatch(ID_PATTERN, member_id) is None:
        raise PageFault("not-found", "That is no member's id.")
    return member_id


async def members(call: Call) -> Page | See:
    typed = call.request.query_params.get("id", "").strip()
    form = Form({"id": typed})
    if not typed:
        return MembersPage(title="Members", form=form)
    if re.fullmatch(ID_PATTERN, typed) is None:
        return MembersPage(title="Members", form=form.but(id="An id has 1 to 128 printable characters."))
    return See(address_of(typed))


async def member(call: Call) -> Page:
    return await shown(call, member_of(call))


async def shown(call: Call, member_id: str, form: Form = EMPTY, fault: str | None = None) -> MemberPage:
    """The page, with what was typed and what is wrong with it. A member without an account that is open to the person
    looks like one without any.
    """
    try:
        below = read_positions(call.asked("after"))
        asked = UUID(call.asked("asked")) if call.asked("asked") else None
    except ValueError:
        raise PageFault("not-found", "There is no such page of this list.") from None
    accounts = await call.part(_accounts(call, member_id))
    programs = [each.program for each in accounts.value or ()]
    address = address_of(member_id)
    open_ = {each.program: each.country for each in accounts.value or ()}
    holds, lots, timeline, tiers, messages, campaigns = await asyncio.gather(
        call.part(_holds(call, member_id, programs)),
        call.part(_lots(call, member_id, programs)),
        call.part(_timeline(call, member_id, {each: below.get(each, FROM_THE_NEWEST) for each in programs})),
        call.part(tiers_shown(call, member_id, open_)),
        call.part(messages_shown(call, member_id, open_)),
        call.part(campaigns_shown(call, member_id)),
    )
    return MemberPage(
        title=member_id,
        command=f"abacus members show {shlex.quote(member_id)}",
        member_id=member_id,
        address=address,
        accounts=accounts,
        holds=holds,
        lots=lots,
        timeline=timeline,
        tiers=tiers,
        messages=messages,
        campaigns=campaigns,
        may=_may(call, accounts.value or ()),
        asked=asked,
        reverses=call.asked("reverse"),
        erase=f"abacus members erase {shlex.quote(member_id)}",
        erases=call.premises.erases,
        erasing=await call.part(newest(call, ERASE, member_id)),
        form=form,
        fault=fault,
    )


def _may(call: Call, accounts: Sequence[AccountAsOf]) -> May:
    countries = {each.country for each in accounts}
    return May(
        adjust=call.may_somewhere(Deed.ADJUST),
        reverse=any(call.may(Deed.REVERSE, country) for country in countries),
        move=any(call.may(Deed.MOVE_POINTS, country) for country in countries),
        erase=call.may(Deed.ERASE, None),
    )


async def _accounts(call: Call, member_id: str) -> Sequence[AccountAsOf]:
    holdings = await call.reading.members.holdings(member_id)
    return [each.now for each in holdings if call.may(Deed.SEE, each.account.country)]


async def _holds(call: Call, member_id: str, programs: Sequence[str]) -> Sequence[Hold]:
    if not programs:
        return ()
    return [each for each in await call.reading.holds.open_holds(member_id) if each.program in programs]


async def _lots(call: Call, member_id: str, programs: Sequence[str]) -> Sequence[RemainingLot]:
    found = [await call.reading.ledger.lots(member_id, program, 0, _LOTS) for program in programs]
    return [each for lots in found for each in lots]


async def _timeline(call: Call, member_id: str, below: dict[str, int]) -> Rows[Told]:
    if not below:
        return Rows(())
    found = await call.reading.ledger.history(member_id, below, _ON_PAGE + 1)
    try:
        book: CardBook | None = call.rooms[CardReader].book()
    except Unavailable:
        book = None
    rows = found[:_ON_PAGE]
    for each in rows:
        below[each.program] = each.seq
    more = f"{address_of(member_id)}?{urlencode({'after': text_of(below)})}" if len(found) > _ON_PAGE else None
    return Rows([_told(each, book) for each in rows], more)


def _told(transfer: Transfer, book: CardBook | None) -> Told:
    words: list[str] = []
    unknown = None if book is not None else "The rate cards cannot be read now."
    try:
        words = list(in_words(read(transfer.explanation), transfer.actor))
    except UnknownExplanation:
        unknown = "This version of Abacus does not know such an explanation."
    except UnreadableExplanation as fault:
        unknown = f"The explanation cannot be read: {fault.detail}"
    return Told(
        id=f"{transfer.member_id}:{transfer.program}:{transfer.seq}",
        key=transfer.key,
        program=transfer.program,
        kind=str(transfer.kind),
        points=transfer.points,
        balance_after=transfer.balance_after,
        country=transfer.country,
        posted_at=transfer.posted_at,
        occurred_at=transfer.occurred_at,
        by=transfer.actor or transfer.known_source,
        reverses=transfer.reverses,
        words=words,
        recomputed=recompute(transfer, book) if book is not None else None,
        unknown=unknown,
    )

"""Members: looked up by the exact id; one member's points, tiers and campaigns, and what happened, day by day."""

import asyncio
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, TypeVar

from abacus.console.errands.types import ERASE
from abacus.console.pages.exchanges.exchange_row import ExchangeRow, row_of
from abacus.console.pages.exchanges.links import LinkRow, links_of
from abacus.console.pages.members.acts import ACTS
from abacus.console.pages.members.addresses import act_address, address_of, member_of
from abacus.console.pages.members.erasures import ERASE_ACT
from abacus.console.pages.members.member_act import MemberAct
from abacus.console.pages.members.timeline import Day, TimelineForm, days_of, form_of
from abacus.console.pages.operations.errands import Done, newest
from abacus.console.pages.redemptions.taken_row import TakenRow, row_of_offer, row_of_reward
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.ids import ID_PATTERN
from abacus.engage.campaigns.progress_rows import MemberProgress
from abacus.engage.journeys.member_visits import MemberVisit
from abacus.engage.notify.notifications import MemberMessage
from abacus.engage.notify.withheld import Withheld
from abacus.exchanges.exchange_rows import Which, listed
from abacus.intake.partners.members import AccountAsOf
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.positions import read_positions
from abacus.oversight.life.decide.tier_progress import TierProgress
from abacus.oversight.life.member_life import Away, RemainingPoints
from abacus.oversight.life.reader import Asked
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.platform.postgres import passing_failures

_MOST_EXCHANGES: Final = 50

Taken = TypeVar("Taken")


@dataclass(frozen=True, kw_only=True)
class MembersPage(Page):
    """Where an id is typed."""

    template: ClassVar[str] = "members.html"


@dataclass(frozen=True)
class Button:
    """Something that the person may do here: the page that asks for the rest."""

    label: str
    path: str


@dataclass(frozen=True, kw_only=True)
class MemberPage(Page):
    """One member, as far as its countries are open to the person, and what the person may do. `erase` is the command,
    where no button does it.
    """

    template: ClassVar[str] = "member.html"
    member_id: str
    address: str
    accounts: Part[Sequence[AccountAsOf]]
    points: Part[Sequence[RemainingPoints]]
    tiers: Part[Sequence[TierProgress]]
    holds: Part[Sequence[Hold]]
    timeline: Part[Rows[Day]]
    narrowed: TimelineForm
    messages: Part[Sequence[MemberMessage]]
    withheld: Part[Sequence[Withheld]]
    campaigns: Part[Sequence[MemberProgress]]
    journeys: Part[Sequence[MemberVisit]]
    redemptions: Part[Sequence[TakenRow]]
    offers: Part[Sequence[TakenRow]]
    links: Part[Sequence[LinkRow]]
    exchanges: Part[Sequence[ExchangeRow]]
    approvals: Part[Sequence[Approval]]
    buttons: Sequence[Button]
    may_move: bool
    may_reverse: bool
    erase: str | None
    erasing: Part[Done | None]

    @property
    def is_unknown(self) -> bool:
        """Whether no account of the member is there, as far as the person may know."""
        return self.accounts.value is not None and not self.accounts.value


async def members(call: Call) -> Page | See:
    typed = call.request.query_params.get("id", "").strip()
    form = Form({"id": typed})
    if not typed:
        return MembersPage(title="Members", form=form)
    if re.fullmatch(ID_PATTERN, typed) is None:
        return MembersPage(title="Members", form=form.but(id="An id has 1 to 128 printable characters."))
    return See(address_of(typed))


async def member(call: Call) -> MemberPage:
    """A member without an account that is open to the person looks like one without any."""
    member_id, form = member_of(call), form_of(call)
    try:
        below = read_positions(call.asked("after"))
    except ValueError:
        raise PageFault("not-found", "There is no such page of this list.") from None
    asked = Asked(member_id, call.countries(Deed.SEE), form.program, form.narrowed, below)
    life, erasing, links, exchanges = await asyncio.gather(
        call.reading.life.of(asked, call.rooms[Approvals]),
        call.part(newest(call, ERASE, member_id)),
        call.part(links_of(call, member_id)),
        call.part(_exchanges(call, member_id)),
    )
    accounts = () if isinstance(life.accounts, Away) else life.accounts
    transfers = life.transfers
    timeline = transfers if isinstance(transfers, Away) else days_of(call, transfers)
    countries = {each.country for each in accounts}
    return MemberPage(
        title=member_id,
        command=f"abacus members show --all {shlex.quote(member_id)}",
        member_id=member_id,
        address=address_of(member_id),
        accounts=call.told_part(life.accounts),
        points=call.told_part(life.points),
        tiers=call.told_part(life.tiers),
        holds=call.told_part(life.holds),
        timeline=call.told_part(timeline),
        narrowed=form.among(accounts),
        messages=call.told_part(life.messages),
        withheld=call.told_part(life.withheld),
        campaigns=call.told_part(life.campaigns),
        journeys=call.told_part(life.journeys),
        redemptions=call.told_part(_rows(row_of_reward, call.now, life.redemptions)),
        offers=call.told_part(_rows(row_of_offer, call.now, life.offers)),
        links=links,
        exchanges=exchanges,
        approvals=call.told_part(life.approvals),
        buttons=_buttons(call, member_id, countries),
        may_move=any(call.may(Deed.MOVE_POINTS, each) for each in countries),
        may_reverse=any(call.may(Deed.REVERSE, each) for each in countries),
        erase=None if _erases(call) else f"abacus members erase {shlex.quote(member_id)}",
        erasing=erasing,
        form=form.typed,
    )


async def _exchanges(call: Call, member_id: str) -> Sequence[ExchangeRow]:
    """The newest in countries that are open to the person."""
    async with passing_failures():
        which = Which(member_id, countries=call.countries(Deed.SEE))
        found = await listed(call.reading.pool, _MOST_EXCHANGES, which)
    return [row_of(each, call.now) for each in found]


def _rows(
    row: Callable[[Taken, datetime], TakenRow], now: datetime, found: Sequence[Taken] | Away
) -> Sequence[TakenRow] | Away:
    return found if isinstance(found, Away) else [row(each, now) for each in found]


def _buttons(call: Call, member_id: str, countries: set[str]) -> list[Button]:
    """What the person may do in a country of the member's, or to a member without an account."""
    return [
        Button(act.label, act_address(act.name, member_id))
        for act in ACTS
        if not act.of_hold and act.needs_account in {None, bool(countries)} and _may(call, act, countries)
    ]


def _may(call: Call, act: MemberAct, countries: set[str]) -> bool:
    if act is ERASE_ACT:
        return _erases(call)
    return any(call.may(act.deed, each) for each in countries) if countries else call.may_somewhere(act.deed)


def _erases(call: Call) -> bool:
    return call.premises.erases and call.may(ERASE_ACT.deed, None)

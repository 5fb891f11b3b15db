"""`abacus exchanges find`, `get`, `cancel`, `reverse` and `settle`; `restored` and `matched`, after the house was
restored.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.known import checked_reason
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused, absent
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import ASKED, Exchange, State
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.turn import Verdict
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.exchange_deeds import ExchangeDeeds
from abacus.exchanges.exchange_rows import Which
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.programmes_at_work import ProgrammesAtWork
from abacus.exchanges.recovery import days_to_match
from abacus.exchanges.timeline import Timelines
from abacus.exchanges.wiring import exchange_deeds
from abacus.ledger.store.moves import PostgresMoves
from abacus.people.decide.rights import countries_of
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore

ExchangeId = Annotated[str, typer.Argument(metavar="EXCHANGE", help="Its id.", show_default=False)]
Why = Annotated[str, typer.Option("--reason", help="For the record.", show_default=False)]

_COLUMNS: Final = ("exchange", "programme", "member", "way", "points", "theirs", "state", "reason", "asked at")
_MOST: Final = 1_000
_MOST_NAMED: Final = 5
_NOWHERE: Final = ""  # the country of an id that was refused before it was heard of


async def find_exchanges(
    member: Annotated[str | None, typer.Option(help="Of this member.")] = None,
    programme: Annotated[str | None, typer.Option(help="Of this programme.")] = None,
    state: Annotated[State | None, typer.Option(help="At this state.")] = None,
    reference: Annotated[str | None, typer.Option(help="With this reference of the partner's.")] = None,
    most: Annotated[int, typer.Option(min=1, max=_MOST, help="As many at most.")] = 50,
) -> Answer:
    """Find exchanges, the newest first. Quotes that nobody has converted are found by their state."""
    async with actor() as at:
        states = ASKED if state is None else [state]
        countries = countries_of(at.actor, Deed.SEE)
        seen = None if countries is None else [*countries, _NOWHERE]
        which = Which(member, programme, states, seen, reference=reference)
        shown = await (await _deeds(at)).listed(most, which)
    rows = [
        [
            str(each.exchange_id),
            each.programme,
            each.member_id,
            each.direction,
            f"{each.points:,}",
            f"{each.theirs:,}",
            each.state,
            each.reason or "",
            "" if each.asked_at is None else each.asked_at.isoformat(),
        ]
        for each in shown
    ]
    return Answer([_document(each) for each in shown], Table("Exchanges", _COLUMNS, rows))


async def get_exchange(exchange: ExchangeId) -> Answer:
    """Show an exchange with its trail."""
    async with actor() as at:
        deeds = await _deeds(at)
        found = await _found(deeds, exchange)
        at.check(Deed.SEE, found.country or None)
        told = await deeds.told(found)
    rows = [[each.at.isoformat(), each.state, each.by, each.reason or "", each.detail or ""] for each in told.turns]
    trail = [{**each._asdict(), "exchange_id": str(each.exchange_id)} for each in told.turns]
    head = f"{found.points:,} points of {found.member_id} for {found.theirs:,} of {found.partner}: {found.state}"
    return Answer({**_document(found), "trail": trail}, head, Table("Trail", ("at", "state", "by", "reason", ""), rows))


async def cancel_exchange(exchange: ExchangeId, reason: Why) -> Answer:
    """Cancel an exchange that was not sent yet: its points are free again."""
    async with actor() as at:
        deeds = await _deeds(at)
        found = await _found(deeds, exchange)
        after = await deeds.cancel(found, at.actor.agent, also=_noted(at, found, "cancel", reason))
    return Answer(_document(after), f"{exchange}: {after.state}")


async def reverse_exchange(exchange: ExchangeId, reason: Why) -> Answer:
    """Have the partner asked to take back what it has credited, where it does."""
    async with actor() as at:
        deeds = await _deeds(at)
        found = await _found(deeds, exchange)
        after = await deeds.reverse(found, at.actor.agent, also=_noted(at, found, "reverse", reason))
    return Answer(_document(after), f"{exchange}: {after.state}")


async def settle_exchange(exchange: ExchangeId, verdict: Annotated[Verdict, typer.Argument()], reason: Why) -> Answer:
    """Decide an exchange that was set aside: the partner has credited it, is asked again, or is asked to cancel it."""
    async with actor() as at:
        deeds = await _deeds(at)
        found = await _found(deeds, exchange)
        also = _noted(at, found, f"settle-{verdict}", reason)
        after = await deeds.settle(found, verdict, reason, at.actor.agent, also=also)
    return Answer(_document(after), f"{exchange}: {after.state}")


async def note_restored(
    since: Annotated[str, typer.Option(help="The moment to which the house was restored.", show_default=False)],
) -> Answer:
    """Say that the house was restored, by a dump for instance: nothing is sent to partners from now on."""
    to = moment("--since", since)
    async with actor() as at:
        at.check(Deed.EDIT_EXCHANGES)
        also = at.does(Deed.EDIT_EXCHANGES, "exchanges", did="restored", to=to.isoformat())
        await Timelines(at.pool, at.clock).restored(to, at.actor.source, also=also)
    return Answer({"restored_to": to}, f"nothing is sent to partners; match their statements since {to.isoformat()}")


async def note_matched() -> Answer:
    """Say that the partners' statements are matched: sending goes on. Refused while the exchanger has not read them all
    since the house was restored.
    """
    async with actor() as at:
        at.check(Deed.EDIT_EXCHANGES)
        timelines, desk = Timelines(at.pool, at.clock), BooksDesk(at.pool, at.clock)
        found = await timelines.read()
        if found is not None and found.restored_to is not None:
            lacking = list[str]()
            for each in await _at_work(at):
                days = days_to_match(each, found.restored_to, at.clock.now())
                unread = await desk.unread(each.name, days, found.noticed_at or found.restored_to)
                lacking += [f"{each.name} of {day}" for day in unread]
            if lacking:
                raise Refused(f"{counted(len(lacking), 'statement')} not read yet: {', '.join(lacking[:_MOST_NAMED])}")
        also = at.does(Deed.EDIT_EXCHANGES, "exchanges", did="matched")
        await timelines.matched(at.actor.source, also=also)
        kinds = await desk.still_open()
    told = f"exchanges are sent again; {counted(sum(each.breaks for each in kinds), 'break')} open"
    return Answer({"restored_to": None, "breaks": [each._asdict() for each in kinds]}, told)


async def _at_work(at: CommandActor) -> Sequence[Programme]:
    """Whose statements the exchanger reads."""
    directory = ProgrammeDirectory(at.pool, at.clock)
    await directory.refresh()
    versions = ProgrammeVersions(ProgrammeStore(at.pool))
    return await ProgrammesAtWork(at.pool, directory.value, versions, at.clock)()


async def _deeds(at: CommandActor) -> ExchangeDeeds:
    book = CardBook(await CardStore(at.pool).all())
    return exchange_deeds(at.pool, at.clock, PostgresMoves(at.pool, at.clock), lambda: book)


async def _found(deeds: ExchangeDeeds, text: str) -> Exchange:
    """Raises `Absent`."""
    found = await deeds.one(_id(text))
    if found is None:
        raise absent("exchange", text, "`abacus exchanges find` prints them")
    return found


def _noted(at: CommandActor, found: Exchange, did: str, reason: str) -> Also:
    """The entry of the log. Raises `Refused` where the actor may not move the member's points."""
    exchange, why = str(found.exchange_id), checked_reason(reason)
    about = {"did": f"{did}-exchange", "of": found.programme, "exchange": exchange, "reason": why}
    return at.does(Deed.MOVE_POINTS, f"member:{found.member_id}", country=found.country, **about)


def _id(text: str) -> UUID:
    """Raises `Refused`."""
    try:
        return UUID(text)
    except ValueError:
        raise Refused(f"{text!r} is no id of an exchange; `abacus exchanges find` prints them") from None


def _document(each: Exchange) -> dict[str, Any]:
    return {**each._asdict(), "exchange_id": str(each.exchange_id), "link_id": str(each.link_id)}

"""`abacus points`: a partner's operations, for the operator: quote, spend, hold, capture, release, reverse, list."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID, uuid4

import typer
from pydantic import BaseModel, ValidationError

from abacus.cli.people.approvals import large_moves, waiting
from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused, Unavailable, absent
from abacus.core.sources import Agent
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.orders import (
    NEW_MEMBER,
    AccountOpening,
    CaptureOrder,
    HoldOrder,
    PointQuoteOrder,
    ReverseOrder,
    SpendOrder,
    Target,
    capture_of,
    hold_of,
    let_go,
    parse_transfer_id,
    point_quote_of,
    reversal_of,
    spend_of,
    target_of,
)
from abacus.ledger.decide.reused_key import reused_by
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader, RemainingLot
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Adjustment, Hold, Moved, Movement, Reversal
from abacus.ledger.types.port import Status
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.approval import Approval, CannotDecide
from abacus.people.types.deed import Deed
from abacus.platform.validation import first_fault
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Held
from abacus.pricing.store.cards import CardStore

app = CommandGroup(help="A member's points: quote, spend, hold, reverse, and list.", no_args_is_help=True)

Member = Annotated[str, typer.Argument(metavar="MEMBER", help="The member's id.")]
Points = Annotated[int, typer.Argument(metavar="POINTS", help="How many.")]
Program = Annotated[str | None, typer.Option(help="The program, where the member has points of several.")]
Country = Annotated[str | None, typer.Option(help="The points of this country's card.", metavar="SG")]
Money = Annotated[str | None, typer.Option(help="Money of the country's currency, such as 4.20.", metavar="AMOUNT")]
Key = Annotated[
    str | None, typer.Option(help="Doing it again under the same key does nothing more; a new one where not given.")
]

_PAGE = 100
_HOLD: Final[Columns[Hold]] = {
    "hold": lambda each: str(each.hold_id),
    "program": lambda each: each.program,
    "points": lambda each: each.points,
    "until": lambda each: "its exchange ends" if each.until is None else f"{each.until:%Y-%m-%d %H:%M:%S} UTC",
    "held by": lambda each: each.held_by,
}
_NOT_FOUND = "not-found"  # the kind of an objection


class Desk(NamedTuple):
    """The readers and writers that the operator's commands use."""

    ledger: LedgerReader
    holds: HoldReader
    moves: PostgresMoves
    book: CardBook
    clock: SystemClock
    acting: CommandActor

    def agent(self, deed: Deed, country: str) -> Agent:
        """Raises `Refused` where the actor may not do it."""
        self.acting.check(deed, country)
        return self.acting.actor.agent

    async def target(self, member_id: str, order: Any, *, opening: AccountOpening = AccountOpening.NONE) -> Target:
        accounts = await self.ledger.accounts(member_id)
        try:
            return target_of(member_id, order, accounts, self.book, self.clock.now(), opening=opening)
        except Objection as error:
            if error.pointer == NEW_MEMBER:
                remedy = "if the id is right and the member is new, say --new-member"
                raise absent(_account(order.program), member_id, remedy) from None
            if error.kind == str(Reason.UNKNOWN_COUNTRY):
                raise absent("rate card of", order.country, "`abacus rates list` prints all scopes") from None
            if error.kind == _NOT_FOUND:
                raise absent(_account(order.program), member_id, "--country says where to open one") from None
            raise Refused(error.detail) from None

    async def accounts(self, member_id: str, program: str | None = None) -> list[Account]:
        """The member's accounts, or the one of this program. Raises `Absent` where there is none."""
        accounts = [each for each in await self.ledger.accounts(member_id) if program in {None, each.program}]
        if not accounts:
            raise absent(_account(program), member_id)
        return accounts

    async def move(self, movement: Movement) -> Answer:
        """Post the movement, and tell of its transfer. Raises `Refused`."""
        (moved,) = await self.moves.move([movement])
        return _told(await self._posted(moved), is_new=moved.status is not Status.DUPLICATE)

    async def large(self, movement: Adjustment | Reversal) -> Answer:
        """Post the movement, or ask for a second person where it is large. Raises `Refused`."""
        try:
            outcome = await large_moves(self.acting.pool, self.acting).do(movement)
        except CannotDecide as error:
            if error.kind == "idempotency-key-reused":
                raise _reused(movement, error.detail) from None
            raise Refused(error.detail) from None
        if isinstance(outcome, Approval):
            return waiting(outcome)
        return _told(await self._posted(outcome), is_new=outcome.status is not Status.DUPLICATE)

    async def _posted(self, moved: Moved) -> Transfer:
        if moved.transfer is not None:
            return moved.transfer
        if moved.fault is not None:
            raise Refused(moved.fault.detail)
        if moved.status is Status.CONFLICT:
            first = await self.ledger.transfer(moved.claim) if moved.claim is not None else None
            raise _reused(moved.movement, reused_by(moved.movement, first))
        transfer = await self.ledger.transfer(moved.claim) if moved.claim is not None else None
        if transfer is None:
            raise Unavailable("ledger", "what was done before cannot be read")
        return transfer


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    clock = SystemClock()
    async with actor() as at:
        book, moves = CardBook(await CardStore(at.pool).all()), PostgresMoves(at.pool, clock)
        yield Desk(LedgerReader(at.pool), HoldReader(at.pool), moves, book, clock, at)


@app.command("spend")
async def spend(
    member: Member,
    points: Points,
    reason: Annotated[str, typer.Option(help="What for.")] = "spent",
    money: Money = None,
    price: Annotated[
        str | None, typer.Option(help="Beside --money: the price, of which something else pays the rest.")
    ] = None,
    program: Program = None,
    country: Country = None,
    key: Key = None,
) -> Answer:
    """Spend a member's points, at most the available ones. With --money they pay at a till, as `quote` says."""
    facts = {"points": points, "reason": reason, "money": money, "price": price}
    order = ordered(SpendOrder, **facts, program=program, country=country)
    async with desk() as at:
        target = await at.target(member, order)
        agent = at.agent(Deed.MOVE_POINTS, target.country)
        with _refusing():
            spending = spend_of(order, target, _key(key), agent)
        return await at.move(spending)


@app.command("quote")
async def quote(
    member: Member,
    points: Annotated[int | None, typer.Option(help="Points of which the money is asked.")] = None,
    money: Money = None,
    program: Program = None,
    country: Country = None,
) -> Answer:
    """Say what a member's points pay at a till, or how many pay the money; without both, what all available points pay.
    Nothing is spent.
    """
    order = ordered(PointQuoteOrder, member_id=member, points=points, money=money, program=program, country=country)
    async with desk() as at:
        target = await at.target(member, order)
        at.agent(Deed.MOVE_POINTS, target.country)
        with _refusing():
            told = point_quote_of(order, target)
    paid = f"{told.points:,} {told.program} of {member} pay {told.money} {told.currency}, by card {told.card}"
    return Answer(told._asdict(), f"{paid}; {told.available:,} are available")


@app.command("hold")
async def hold(
    member: Member,
    points: Points,
    seconds: Annotated[int, typer.Option("--for", help="Seconds until it is released by itself.")] = 900,
    reason: Annotated[str, typer.Option(help="What for.")] = "held",
    program: Program = None,
    country: Country = None,
    key: Key = None,
) -> Answer:
    """Hold points for a purchase: nobody can spend them meanwhile."""
    order = ordered(HoldOrder, points=points, reason=reason, program=program, country=country, expires_in=seconds)
    async with desk() as at:
        target = await at.target(member, order)
        agent = at.agent(Deed.MOVE_POINTS, target.country)
        return await at.move(hold_of(order, target, _key(key), agent, at.clock.now()))


HoldId = Annotated[UUID, typer.Argument(metavar="HOLD", help="The id of the hold; `abacus points holds` prints it.")]


@app.command("capture")
async def capture(
    member: Member,
    hold_id: HoldId,
    points: Annotated[
        int | None, typer.Option(help="How many to spend; all that are held where it is not given.")
    ] = None,
) -> Answer:
    """Spend the points of a hold, or part of them; the rest is released."""
    order = ordered(CaptureOrder, points=points)
    async with desk() as at:
        held = await _hold(at, member, hold_id)
        return await at.move(capture_of(order, held, at.agent(Deed.MOVE_POINTS, held.country)))


@app.command("release")
async def release(member: Member, hold_id: HoldId) -> Answer:
    """Release the points of a hold."""
    async with desk() as at:
        held = await _hold(at, member, hold_id)
        return await at.move(let_go(held, at.agent(Deed.MOVE_POINTS, held.country)))


@app.command("reverse")
async def reverse(
    transfer: Annotated[str, typer.Argument(help="Its key, such as txn:rides:T-1001, or its id, MEMBER:PROGRAM:SEQ.")],
    points: Annotated[
        int | None, typer.Option(help="How many to take back or give back; all that are left where it is not given.")
    ] = None,
    amount: Annotated[
        str | None, typer.Option(help="Instead: the amount that is refunded of the transaction, or of the purchase.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "reversed",
    key: Key = None,
) -> Answer:
    """Take back points that were earned or adjusted, or give back points that were spent. Many points of one transfer
    wait until a second person approves it.
    """
    order = ordered(ReverseOrder, points=points, amount=amount, reason=reason)
    async with desk() as at:
        claim = await at.ledger.claim(transfer)
        place = parse_transfer_id(transfer)
        original = await at.ledger.transfer(claim) if claim else await at.ledger.at(*place) if place else None
        if original is None:
            raise absent("transfer with the key or the id", transfer)
        now = at.clock.now()
        card = at.book.in_force(original.country, now)
        agent = at.agent(Deed.REVERSE, original.country)
        with _refusing():
            taking = reversal_of(order, original, card, key=_key(key), agent=agent, now=now)
        return await at.large(taking)


@app.command("holds")
async def holds(member: Member) -> Answer:
    """List a member's open holds. Exit 1 for nobody."""
    async with desk() as at:
        open_holds = await at.holds.open_holds(member)
        if not open_holds:
            await at.accounts(member)
    document = {"member_id": member, "holds": [each._asdict() for each in open_holds]}
    return Answer(document, Table.of(f"Open holds of {member}", open_holds, _HOLD))


@app.command("lots")
async def lots(member: Member, program: Program = None) -> Answer:
    """List the points that remain of each award, in the order in which they are spent. Exit 1 for nobody."""
    remaining: list[RemainingLot] = []
    async with desk() as at:
        for account in await at.accounts(member, program):
            after = 0
            while True:
                page = await at.ledger.lots(member, account.program, after, _PAGE)
                remaining += page
                if len(page) < _PAGE:
                    break
                after = page[-1].seq
    columns = ["key", "program", "kind", "points", "remaining", "good until"]
    rows = [[each.key, each.program, each.kind, each.points, each.remaining, each.expires_on] for each in remaining]
    return Answer(
        {"member_id": member, "lots": [each._asdict() for each in remaining]},
        Table(f"What remains of the points of {member}", columns, rows),
    )


def _told(transfer: Transfer, *, is_new: bool) -> Answer:
    document = {
        "id": f"{transfer.member_id}:{transfer.program}:{transfer.seq}",
        "key": transfer.key,
        "kind": str(transfer.kind),
        "points": transfer.points,
        "balance": transfer.balance_after,
        "replayed": not is_new,
        "explanation": json.loads(transfer.explanation),
    }
    line = (
        f"{transfer.kind} {transfer.points:+,} {transfer.program} for {transfer.member_id}: balance"
        f" {transfer.balance_after:,}, {transfer.key}{'' if is_new else ' (done before)'}"
    )
    if transfer.kind == TransferKind.HOLD and isinstance(explanation := read(transfer.explanation), Held):
        end = "without an end" if explanation.until is None else f"until {explanation.until.isoformat()}"
        return Answer(document, line, f"hold {explanation.hold} {end}")
    return Answer(document, line)


def ordered(order: type[BaseModel], **values: Any) -> Any:
    """The order, checked. Raises `Refused`."""
    try:
        return order(**values)
    except ValidationError as error:
        raise Refused(first_fault(error)) from None


@contextmanager
def _refusing() -> Iterator[None]:
    """Objections of the rooms are refusals of a command."""
    try:
        yield
    except Objection as error:
        raise Refused(error.detail) from None


def _account(program: str | None) -> str:
    return f"account of {program} of" if program else "account of"


def _reused(movement: Movement, how: str) -> Refused:
    return Refused(f"the key {movement.key} was used for other facts: {how}")


def _key(given: str | None) -> str:
    return f"ops:{given or uuid4()}"


async def _hold(at: Desk, member_id: str, hold_id: UUID) -> Hold:
    held = await at.holds.hold(member_id, hold_id)
    if held is None:
        raise absent(f"hold of {member_id!r} with the id", hold_id)
    return held

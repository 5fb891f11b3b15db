"""`abacus report revenue`, `allocate` and `assumptions`: points as deferred revenue."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, NamedTuple

import typer

from abacus.approving.assumptions import Assumed, assumption_proposal, read_assumed
from abacus.cli.people.approvals import large_moves, waiting
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_cards, check_priced
from abacus.cli.terminal.sheets import Decimals, Report, read_day, reading, table_of
from abacus.cli.terminal.shell import CommandGroup, pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault
from abacus.oversight.reports.activity import activity
from abacus.oversight.reports.assumption_store import AssumptionStore, assumptions
from abacus.oversight.reports.decide.assumption import Assumption, Pair, percent, read_price, read_share
from abacus.oversight.reports.decide.revenue import Allocation, Given, Revenue
from abacus.oversight.reports.decide.revenue import allocate as part
from abacus.oversight.reports.decide.revenue import revenue as recognise
from abacus.oversight.reports.decide.sheet import sheet
from abacus.oversight.reports.homes import homes
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

app = CommandGroup(help="Finance's assumptions on points, by version.", no_args_is_help=True)

Program = Annotated[str, typer.Option("--program", metavar="GRP", help="Which points.")]
Country = Annotated[str, typer.Option("--country", metavar="SG", help="At home in this country.")]
OnlyProgram = Annotated[str | None, typer.Option("--program", metavar="GRP", help="Only these points.")]
OnlyCountry = Annotated[str | None, typer.Option("--country", metavar="SG", help="Only this country.")]
Use = Annotated[str, typer.Option("--expected-use", metavar="97%", help="Share of all points that will be used.")]
Price = Annotated[str | None, typer.Option(metavar="0.01", help="The price of one point, in the currency.")]


class Shown(NamedTuple):
    """A version of the assumptions, as it is listed."""

    assumption: str
    effective_from: date
    expected_use: str
    cost_per_point: Decimal | None
    selling_price: Decimal | None
    allocated_per_point: Decimal | None
    currency: str
    set_by: str
    reason: str


@app.command("set")
async def set_assumption(
    program: Program,
    country: Country,
    expected_use: Use,
    currency: Annotated[str, typer.Option("--currency", metavar="SGD", help="The currency of the prices.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; auditors read it.")],
    effective_from: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="In force from this day, or month. Default: today.")
    ] = None,
    cost_per_point: Price = None,
    selling_price: Price = None,
    allocated_per_point: Price = None,
) -> Answer:
    """Set finance's assumptions for a program's points in a country, as a new version. Earlier versions stay."""
    given = {
        "program": program,
        "country": country,
        "expected_use": expected_use,
        "currency": currency,
        "cost_per_point": cost_per_point,
        "selling_price": selling_price,
        "allocated_per_point": allocated_per_point,
        "reason": reason,
    }
    async with actor() as at:
        now = at.clock.now()
        since = read_day(effective_from, "--from", last=False) if effective_from else now.date()
        wanted, store = _read({**given, "effective_from": since.isoformat()}), AssumptionStore(at.pool)
        also = at.does(Deed.SET_ASSUMPTIONS, wanted.subject, country=wanted.country, reason=wanted.reason, start=since)
        await store.check(program, country, since, wanted.estimate)
        if settings().assumptions_need_approval:
            request = await large_moves(at.pool, at).approvals.ask(assumption_proposal(wanted), at.actor.agent)
            return waiting(request)
        assumption = await store.set(
            program, country, since, wanted.estimate, by=at.actor.source, why=wanted.reason, now=now, also=also
        )
    set_ = f"{assumption.name} set, in force from {assumption.effective_from}"
    return Answer(_row(assumption)._asdict(), set_)


@app.command("show")
async def show(
    program: OnlyProgram = None,
    country: OnlyCountry = None,
) -> Report:
    """Show every version of the assumptions: its values, its first day, its author and its reason."""
    async with pool() as opened:
        await check_priced(opened, country, program)
        versions = await AssumptionStore(opened).all()
    rows = [_row(each) for each in versions if _wanted((each.program, each.country), program, country)]
    return Report(sheet("rows", "Assumptions", Shown, rows))


async def revenue(
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="A month, by the clock of each country.")],
    program: OnlyProgram = None,
    country: OnlyCountry = None,
    allocated: Annotated[
        list[str] | None,
        typer.Option(
            metavar="YYYY-MM=AMOUNT", help="Amount allocated to a month's points, in place of a price a point."
        ),
    ] = None,
    decimals: Decimals = 2,
) -> Report:
    """Show how much of the sales is deferred for points, and how much a month recognises, by the assumptions in
    force.
    """
    wanted, given, now = Month.parse(month), _given(allocated or []), SystemClock().now()
    async with reading(f"points issued and used by the end of {wanted}") as (connection, cards):
        check_cards([each.card for scope in cards.scopes() for each in cards.versions(scope)], country, program)
        book = await assumptions(connection)
        pairs = [pair for pair in book.pairs() if _wanted(pair, program, country)]
        if not pairs:
            raise Refused("nothing is assumed of such points; `abacus report assumptions set` does that")
        if given and len(pairs) > 1:
            raise Refused("--allocated is of one program in one country; add --program and --country")
        where = await homes(connection, cards, now)
        happened = await activity(connection, where, where.end(wanted.last_day))
    rows = [recognise(happened, pair, wanted, book, given=given, decimals=decimals) for pair in pairs]
    return Report(sheet("rows", f"Revenue of points in {wanted}", Revenue, rows), {"month": str(wanted)})


async def allocate(
    price: Annotated[str, typer.Option(metavar="AMOUNT", help="The price of the sales.")],
    products: Annotated[str, typer.Option(metavar="AMOUNT", help="The price of the products when sold alone.")],
    points: Annotated[int, typer.Option(min=0, help="Points that came with them.")],
    selling_price: Annotated[str, typer.Option(metavar="PRICE", help="The price of a point when sold alone.")],
    expected_use: Use,
    decimals: Decimals = 2,
) -> Answer:
    """Split the price of sales between the products and the points that they earned, by stand-alone prices."""
    allocation = part(
        read_price(price, "--price"),
        read_price(products, "--products"),
        points,
        selling_price=read_price(selling_price, "--selling-price"),
        expected_use=read_share(expected_use),
        decimals=decimals,
    )
    data = sheet("rows", "Allocated to", Allocation, [allocation])
    return Answer({data.name: data.documents()}, table_of(data))


def _read(given: Mapping[str, str | None]) -> Assumed:
    """By the reader of the form. Raises `DocumentFaults` with every fault at its option."""
    try:
        return read_assumed({name: text for name, text in given.items() if text is not None})
    except DocumentFaults as error:
        options = [Fault(f"--{each.path.replace('_', '-')}", each.message) for each in error.faults]
        raise DocumentFaults(options) from None


def _given(entries: list[str]) -> Given:
    given: dict[Month, Decimal] = {}
    for entry in entries:
        month, separator, amount = entry.partition("=")
        if not separator:
            raise Refused(f"--allocated: {entry!r} is not a month and its amount; write it as 2026-07=9000")
        given[Month.parse(month)] = read_price(amount, "--allocated")
    return given


def _wanted(pair: Pair, program: str | None, country: str | None) -> bool:
    return program in {None, pair[0]} and country in {None, pair[1]}


def _row(each: Assumption) -> Shown:
    said = each.estimate
    return Shown(
        assumption=each.name,
        effective_from=each.effective_from,
        expected_use=percent(said.expected_use),
        cost_per_point=said.cost_per_point,
        selling_price=said.selling_price,
        allocated_per_point=said.allocated_per_point,
        currency=said.currency,
        set_by=each.set_by,
        reason=each.reason,
    )

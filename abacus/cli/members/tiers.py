"""`abacus tiers`: members' tiers and their reasons, tiers that an operator sets, and the end of a period."""

from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import Answer, AsJson, Columns, Table, console, counted, print_json
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_member
from abacus.cli.terminal.progress import bars
from abacus.cli.terminal.shell import CommandGroup, SeveralRefused, pool
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, absent
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.account import AccountId
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.decide.policy import Tally
from abacus.programs.tiers.decide.tier_change import Change
from abacus.programs.tiers.roll import Roll
from abacus.programs.tiers.roll import Run as RollRun
from abacus.programs.tiers.store import MembershipStore, Shown

app = CommandGroup(help="Members' tiers.", no_args_is_help=True)

Member = Annotated[str, typer.Argument(help="The member's id.")]
Program = Annotated[str, typer.Option(help="Which points, for example GRP.")]
Why = Annotated[str, typer.Option("--reason", help="Why; kept with the change.")]


def _why(change: Change) -> str:
    return f"{change.reason} by {change.actor}: {change.note}" if change.actor is not None else str(change.reason)


_CHANGE: Final[Columns[Change]] = {
    "when": lambda each: each.changed_at,
    "program": lambda each: each.program,
    "from": lambda each: each.from_tier,
    "to": lambda each: each.to_tier,
    "why": _why,
    "points earned": lambda each: each.earned,
    "lasts through": lambda each: each.until,
}


@app.command("set")
async def set_tier(
    member: Member,
    tier: Annotated[str, typer.Argument(help="A tier that the program's cards price.")],
    program: Program,
    reason: Why,
) -> Answer:
    """Give a member a tier in a program until it is cleared, whatever the points say. The next transaction is priced
    by it.
    """
    _needs(reason)
    async with actor() as at:
        await _refuse_unpriced(at.pool, program, tier)
        check_member(member)
        account, told = (member, program), {"did": "set", "program": program, "tier": tier, "reason": reason}
        also = at.does(Deed.SET_TIERS, f"member:{member}", country=await _country(at.pool, account), **told)
        membership = await MembershipStore(at.pool, at.clock).set(
            account, tier, reason=reason, actor=at.actor.source, also=also
        )
    return Answer(membership._asdict(), f"{member} is {tier} in {program}")


@app.command("clear")
async def clear(member: Member, program: Program, reason: Why) -> Answer:
    """Clear a tier that was set: the member's tier goes by the points again."""
    _needs(reason)
    check_member(member)
    async with actor() as at:
        account = (member, program)
        country = await _country(at.pool, account)
        also = at.does(Deed.SET_TIERS, f"member:{member}", country=country, did="clear", program=program, reason=reason)
        tier = await MembershipStore(at.pool, at.clock).clear(account, reason=reason, actor=at.actor.source, also=also)
    return Answer(
        {"member_id": member, "program": program, "tier": tier}, f"{member} is {tier} in {program}, by points"
    )


@app.command("show")
async def show(member: Member) -> Answer:
    """Show a member's tiers: the tier in force, the tier by points, and the tier that was set. A member not listed
    is `member`.
    """
    check_member(member)
    async with pool() as opened:
        memberships = await MembershipStore(opened, SystemClock()).show(member)
        if not memberships:
            await _check_there(opened, member)
    columns = ["program", "tier", "by points", "lasts through", "points earned in", "set by hand"]
    return Answer(
        [_shown(each) for each in memberships],
        Table(f"Tiers of {member}", columns, [_row(each) for each in memberships]),
    )


@app.command("history")
async def history(
    member: Member, limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50
) -> Answer:
    """Show every change of a member's tiers, the newest first: the tiers before and after, the reason, and the time."""
    async with pool() as opened:
        changes = await MembershipStore(opened, SystemClock()).history(member, limit)
        if not changes:
            await _check_there(opened, member)
    return Answer([each._asdict() for each in changes], Table.of(f"Changes of {member}", changes, _CHANGE))


@app.command("roll")
async def roll(
    due: Annotated[bool, typer.Option("--due", help="Every period that is over and not rolled yet.")] = False,
    country: Annotated[str | None, typer.Option(help="Only this country, for example SG.")] = None,
    as_json: AsJson = False,
) -> None:
    """End the periods that are over: a tier that lasted to its end steps down to the tier by the points earned since.
    For cron.

    A run that was broken off goes on where it stopped; doing it again changes nothing.
    """
    if not due:
        raise Refused("say --due: a period can be rolled when it is over, and all that are over are rolled")
    done: list[RollRun] = []
    refused: list[Refused] = []
    async with actor() as at:
        await at.begins(Deed.RUN_JOBS, "job:tiers-roll", country=country)
        book = CardBook(await CardStore(at.pool).all())
        with bars() as progress:
            task = progress.add_task("", total=None)

            def moved(each: RollRun) -> None:
                done, name = each.stepped_down + each.kept, f"{each.country} through {each.through}"
                progress.update(task, completed=done, total=each.found, description=name)

            job = Roll(at.pool, book, at.clock, progress=moved)
            if country is not None and country not in book.countries():
                raise absent("rate card of", country, "`abacus rates list` prints all scopes")
            for each in [country] if country is not None else book.countries():
                try:
                    runs = await job.due(each)
                except Refused as error:  # it is being rolled already, which holds up no other country
                    refused.append(error)
                    continue
                if not as_json:
                    _print_runs(each, runs)
                done.extend(runs)
    if as_json and (done or not refused):
        print_json([each._asdict() for each in done])
    if refused:
        raise SeveralRefused(refused)


def _print_runs(country: str, runs: list[RollRun]) -> None:
    for each in runs:
        console.print(
            f"{country} through {each.through}: {counted(each.found, 'tier')} ended,"
            f" {each.stepped_down:,} stepped down, {each.kept:,} kept"
        )
    if not runs:
        console.print(f"{country}: nothing is due")


async def _check_there(opened: Pool, member: str) -> None:
    """Raises `Absent` for a member without any account."""
    if not await LedgerReader(opened).accounts(member):
        raise absent("account of", member)


async def _country(opened: Pool, account: AccountId) -> str | None:
    """Where the account is at home; None while the member has no such account."""
    member_id, program = account
    accounts = await LedgerReader(opened).accounts(member_id)
    return next((each.country for each in accounts if each.program == program), None)


def _needs(reason: str) -> None:
    if not reason.strip():
        raise Refused("--reason: say why, it is kept with the change")


async def _refuse_unpriced(opened: Pool, program: str, tier: str) -> None:
    priced = {
        name
        for published in await CardStore(opened).all()
        if published.card.program == program
        for name in published.card.tiers
    }
    if not priced:
        raise absent("program", program, "`abacus rates list` prints the programs of all cards")
    if tier not in priced:
        raise Refused(f"no card of {program} prices the tier {tier!r}; there are {', '.join(sorted(priced))}")


def _shown(shown: Shown) -> dict[str, Any]:
    account = shown.known.account
    return {
        "member_id": account.member_id,
        "program": account.program,
        "country": account.country,
        "tier": shown.known.tier,
        "computed": {"tier": account.tier, "until": account.until, "periods": [_tally(each) for each in shown.tallies]},
        "override": shown.membership._asdict() if shown.membership is not None else None,
    }


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "starts_on": tally.period.starts_on,
        "ends_on": tally.period.ends_on,
        "earned": tally.earned,
        "tier": tally.reached.tier,
    }


def _row(shown: Shown) -> list[object]:
    account, set_ = shown.known.account, shown.membership
    earned = [f"{tally.period.starts_on} to {tally.period.ends_on}: {tally.earned:,}" for tally in shown.tallies]
    by_hand = f"{set_.tier}, {set_.set_at:%Y-%m-%d} by {set_.actor}: {set_.reason}" if set_ is not None else ""
    return [account.program, shown.known.tier, account.tier, account.until, "\n".join(earned), by_hand]

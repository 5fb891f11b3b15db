"""`abacus partners`: partners that may award points over HTTP, and their limits."""

from datetime import timedelta
from typing import Annotated, Any, Final

import typer

from abacus.approving.executors import limits_proposal
from abacus.cli.partners.partner_requests import requests
from abacus.cli.partners.partner_rights import set_rights, show
from abacus.cli.partners.partner_words import PartnerId, document, limits_in_words, row
from abacus.cli.people.approvals import large_moves, waiting
from abacus.cli.terminal.answer import EXIT_REFUSED, Answer, Aside, Secret, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, pool, secrets, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.core.points import MAX_POINTS
from abacus.engage.downstreams.store import SECRET_COLUMNS as OF_DOWNSTREAMS
from abacus.engage.offers.codes.code_key import CODE_KEYS
from abacus.engage.rewards.pools import POOL_KEYS, rewrap_codes
from abacus.exchanges.client_secrets import CLIENT_SECRET
from abacus.exchanges.link_store import LINK_SECRETS
from abacus.intake.partners.decide.partner import LIVE_KEY, MOST_REQUESTS_PER_MINUTE, Partner, new_signing_secret
from abacus.intake.partners.sandbox import new_test_access
from abacus.intake.partners.store import SECRET_COLUMNS as OF_PARTNERS
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.deed import Deed
from abacus.platform.migrations import has_sandbox
from abacus.platform.sandbox import SESSION
from abacus.platform.secret_rotation import rewrap

app = CommandGroup(help="Partners that award points over HTTP.", no_args_is_help=True)

_NOT_LOGGED: Final = frozenset({"partner_id", "signing_secret", "created_at", "created_by", "disabled_at"})


def _limit(what: str) -> Any:
    return typer.Option(min=0, max=MAX_POINTS, help=f"{what}; no limit where it is not given.")


BudgetPerDay = Annotated[int | None, _limit("Points it may award a day (UTC)")]
BudgetTotal = Annotated[int | None, _limit("Points it may award in all")]
CapPerAward = Annotated[int | None, _limit("Points that one award may carry")]
CapPerMemberDay = Annotated[int | None, _limit("Points that a member may get from it a day")]


@app.command("create")
async def create(
    partner: PartnerId,
    name: Annotated[str, typer.Option(help="The partner's name; the id where it is not given.")] = "",
    fixed_points: Annotated[bool, typer.Option(help="May it award a number of points that it names?")] = True,
    computed_points: Annotated[bool, typer.Option(help="May it send transactions for Abacus to compute?")] = True,
    spend: Annotated[
        bool, typer.Option(help="May it spend and hold members' points, and see those of any member?")
    ] = False,
    adjust: Annotated[
        bool, typer.Option(help="May it adjust members' points, and take others' transfers back?")
    ] = False,
    see_others: Annotated[
        bool, typer.Option(help="May it read others' transfers whole, and set preferences of any member?")
    ] = False,
    counts: Annotated[bool, typer.Option(help="May it read counters?")] = False,
    read_members: Annotated[
        bool, typer.Option(help="May it see the points of members whose points it has not moved?")
    ] = False,
    offers: Annotated[bool, typer.Option(help="May it ask for members' offers, and take them?")] = False,
    explain_offers: Annotated[bool, typer.Option(help="May it be told why offers fail?")] = False,
    load_places: Annotated[bool, typer.Option(help="May it load places and regions?")] = False,
    positions: Annotated[bool, typer.Option(help="May it say where members are?")] = False,
    exchanges: Annotated[bool, typer.Option(help="May it bring points of its members?")] = False,
    country: Annotated[
        list[str] | None,
        typer.Option(help="A country where it may award; repeat it for more. Every country where not given."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="A source of transactions that it may name, beside its own id; repeat it for more."),
    ] = None,
    card: Annotated[
        str | None, typer.Option(help="The scope of its own rate card (partner:acme); the country's otherwise.")
    ] = None,
    budget_per_day: BudgetPerDay = None,
    budget_total: BudgetTotal = None,
    cap_per_award: CapPerAward = None,
    cap_per_member_day: CapPerMemberDay = None,
    requests_per_minute: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_REQUESTS_PER_MINUTE,
            help="Requests a minute that the API lets pass, all its processes together.",
        ),
    ] = 60_000,
    sign: Annotated[bool, typer.Option("--sign", help="Its requests must be signed.")] = False,
) -> Answer:
    """Register a partner and print its API key. The key is not shown again."""
    key, secret = LIVE_KEY.new(), new_signing_secret() if sign else None
    limits = Limits(cap_per_award, cap_per_member_day, budget_per_day, budget_total)
    async with actor() as at:
        made = Partner(
            partner_id=partner,
            name=name or partner,
            fixed_points=fixed_points,
            computed_points=computed_points,
            countries=tuple(dict.fromkeys(country or ())),
            card_scope=card,
            requests_per_minute=requests_per_minute,
            signing_secret=secret,
            created_at=at.clock.now(),
            created_by=at.actor.source,
            disabled_at=None,
            may_spend=spend,
            may_adjust=adjust,
            may_see_others=see_others,
            may_count=counts,
            may_read_members=read_members,
            may_use_offers=offers,
            may_explain_offers=explain_offers,
            may_load_places=load_places,
            may_send_positions=positions,
            may_exchange=exchanges,
            sources=tuple(dict.fromkeys(source or ())),
        )
        said = {name: value for name, value in made._asdict().items() if name not in _NOT_LOGGED}
        also = at.does(
            Deed.EDIT_PARTNERS, f"partner:{partner}", did="create", **said, limits=limits._asdict(), signed=sign
        )
        await PartnerStore(at.pool, at.clock, secrets()).create(made, limits, key, also=also)
    shown = [Secret(f"{partner} may award with this key, which is shown this once", key.text)]
    if secret is not None:
        shown.append(Secret("and signs its requests with", secret))
    return Answer({"partner_id": partner, "key": key.text, "signing_secret": secret}, *shown)


@app.command("rotate-key")
async def rotate_key(
    partner: PartnerId,
    overlap_hours: Annotated[
        float, typer.Option(min=0, max=24 * 90, help="Hours for which the current key stays valid beside the new one.")
    ] = 24.0,
) -> Answer:
    """Print a new key for a partner. The current key stays valid for a while; older keys end now."""
    key = LIVE_KEY.new()
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="rotate-key", overlap_hours=overlap_hours)
        until = await PartnerStore(at.pool, at.clock).rotate(
            partner, key, overlap=timedelta(hours=overlap_hours), also=also
        )
    return Answer(
        {"partner_id": partner, "key": key.text, "former_key_valid_until": until.isoformat()},
        Secret(f"the key so far is valid until {until:%Y-%m-%d %H:%M} UTC; the new one, shown this once", key.text),
    )


@app.command("sign")
async def sign_requests(
    partner: PartnerId,
    off: Annotated[bool, typer.Option("--off", help="Its requests need not be signed any more.")] = False,
) -> Answer:
    """Print a secret that a partner must sign its requests with from now on. An earlier secret ends now."""
    secret = None if off else new_signing_secret()
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="sign", signed=not off)
        await PartnerStore(at.pool, at.clock, secrets()).sign(partner, secret, also=also)
    document = {"partner_id": partner, "signing_secret": secret}
    if secret is None:
        return Answer(document, f"{partner} need not sign its requests")
    return Answer(document, Secret(f"{partner} signs its requests with this secret, which is shown this once", secret))


@app.command("limit")
async def limit(
    partner: PartnerId,
    budget_per_day: BudgetPerDay = None,
    budget_total: BudgetTotal = None,
    cap_per_award: CapPerAward = None,
    cap_per_member_day: CapPerMemberDay = None,
    no_limits: Annotated[bool, typer.Option("--no-limits", help="Take every limit away.")] = False,
) -> Answer:
    """Change a partner's limits. A limit without an option stays as it is, and earlier awards still count."""
    given = Limits(cap_per_award, cap_per_member_day, budget_per_day, budget_total)
    if no_limits == any(value is not None for value in given):
        raise Refused("say which limits to change, or --no-limits to take all away")
    async with actor() as at:
        store = PartnerStore(at.pool, at.clock)
        current = next((e.allowance.limits for e in await store.all() if e.partner.partner_id == partner), Limits())
        limits = Limits(*(new if new is not None else old for new, old in zip(given, current, strict=True)))
        limits = Limits() if no_limits else limits
        also = at.does(Deed.EDIT_LIMITS, f"partner:{partner}", before=current._asdict(), after=limits._asdict())
        if settings().limits_need_approval and limits.allows_more_than(current):
            approvals = large_moves(at.pool, at).approvals
            request = await approvals.ask(limits_proposal(partner, current, limits), at.actor.agent)
            return waiting(request)
        await store.limit(partner, limits, also=also)
    return Answer({"partner_id": partner, "limits": limits._asdict()}, f"{partner}: {limits_in_words(limits)}")


@app.command("list")
async def list_partners() -> Answer:
    """List the partners with their rights, their limits, their awards, and the beginnings of their keys."""
    async with pool() as opened:
        registered = await PartnerStore(opened, SystemClock()).all()
    now = SystemClock().now()
    columns = ["partner", "name", "may", "countries", "limits", "awarded", "keys", "since"]
    return Answer(
        [document(each) for each in registered], Table("Partners", columns, [row(each, now) for each in registered])
    )


@app.command("disable")
async def disable(partner: PartnerId) -> Answer:
    """Close a partner's keys within seconds. Awards that were accepted before are still posted."""
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="disable")
        since = await PartnerStore(at.pool, at.clock).disable(partner, also=also)
    return Answer(
        {"partner_id": partner, "disabled_at": since.isoformat()},
        f"{partner} is disabled since {since:%Y-%m-%d %H:%M} UTC",
    )


@app.command("enable")
async def enable(partner: PartnerId) -> Answer:
    """Let a disabled partner's keys in again, within seconds; keys that have ended stay closed."""
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="enable")
        await PartnerStore(at.pool, at.clock).enable(partner, also=also)
    return Answer({"partner_id": partner, "disabled_at": None}, f"{partner} is enabled")


@app.command("rewrap")
async def rewrap_secrets() -> Answer:
    """Encrypt every stored secret, pools of codes among them, under the first key of ABACUS_SECRETS_KEY."""
    async with actor() as at, pool(session=SESSION) as own:
        live = at.pool
        await at.begins(Deed.EDIT_PARTNERS, "partners", did="rewrap")
        of_links = (*LINK_SECRETS, CLIENT_SECRET)
        here = await rewrap(live, secrets(), [*OF_PARTNERS, *OF_DOWNSTREAMS, POOL_KEYS, CODE_KEYS, *of_links])
        codes = await rewrap_codes(live, secrets())
        changed, current = here.changed + codes.changed, here.current + codes.current
        unreadable = [*here.unreadable, *codes.unreadable]
        if await has_sandbox(live):
            more = await rewrap(own, secrets(), [*OF_PARTNERS, *LINK_SECRETS])
            changed, current = changed + more.changed, current + more.current
            unreadable = [*unreadable, *(f"sandbox: {line}" for line in more.unreadable)]
    return Answer(
        {"changed": changed, "current": current, "unreadable": unreadable},
        f"{counted(changed, 'secret')} encrypted anew, {current:,} under the key before",
        *(Aside(f"abacus: {line}") for line in unreadable),
        exit_code=EXIT_REFUSED if unreadable else 0,
    )


@app.command("test-key")
async def make_test_key(partner: PartnerId) -> Answer:
    """Print a key for the sandbox: the same API and rights, other points. The partner's earlier test keys end now.

    It keeps the limits of this moment there. A partner that signs gets a signing secret for the sandbox too.
    """
    clock = SystemClock()
    async with actor() as at, pool(session=SESSION) as own:
        if not await has_sandbox(at.pool):
            raise Refused("there is no sandbox; `abacus migrate --sandbox`, as the owner, makes it")
        await at.begins(Deed.EDIT_PARTNERS, f"partner:{partner}", did="test-key")
        also = at.told(Deed.EDIT_LIMITS, f"partner:{partner}", did="test-key")
        there = PartnerStore(own, clock, secrets())
        made = await new_test_access(PartnerStore(at.pool, clock), there, partner, also=also)
    shown = [Secret(f"{partner} may try everything in the sandbox with this key, which is shown this once", made.key)]
    if made.signing_secret is not None:
        shown.append(Secret("and signs its requests there with", made.signing_secret))
    return Answer({"partner_id": partner, **made._asdict()}, *shown)


app.command("show")(show)
app.command("set")(set_rights)
app.command("requests")(requests)

"""`abacus partners show` and `set`: one partner's rights, and changing some of them."""

from typing import Annotated, Any, Final

import typer

from abacus.cli.partners.partner_words import PartnerId, document, lines, sources_in_words
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.intake.partners.decide.partner import MOST_REQUESTS_PER_MINUTE, Partner, RightsChange
from abacus.intake.partners.store import PartnerStore
from abacus.people.types.deed import Deed

# How a field is called on the command line; a flag has its `no-` in front.
_OPTIONS: Final = {
    "name": "name",
    "fixed_points": "fixed-points",
    "computed_points": "computed-points",
    "countries": "country",
    "card_scope": "card",
    "requests_per_minute": "requests-per-minute",
    "may_spend": "spend",
    "may_adjust": "adjust",
    "may_see_others": "see-others",
    "may_count": "counts",
    "may_read_members": "read-members",
    "may_use_offers": "offers",
    "may_explain_offers": "explain-offers",
    "may_load_places": "load-places",
    "may_send_positions": "positions",
    "may_exchange": "exchanges",
    "sources": "source",
}


async def show(partner: PartnerId) -> Answer:
    """Show a partner: its rights, its limits, its awards, and the last use of each key."""
    clock = SystemClock()
    async with pool() as opened:
        registered = await PartnerStore(opened, clock).get(partner)
    return Answer(document(registered), *lines(registered, clock.now()))


async def set_rights(
    partner: PartnerId,
    name: Annotated[str | None, typer.Option(help="The partner's name.")] = None,
    fixed_points: Annotated[bool | None, typer.Option(help="Award a number of points that it names.")] = None,
    computed_points: Annotated[bool | None, typer.Option(help="Send transactions to be computed.")] = None,
    spend: Annotated[bool | None, typer.Option(help="Spend and hold members' points.")] = None,
    adjust: Annotated[bool | None, typer.Option(help="Adjust points, and take others' transfers back.")] = None,
    see_others: Annotated[
        bool | None, typer.Option(help="Read others' transfers whole, set any member's preferences.")
    ] = None,
    counts: Annotated[bool | None, typer.Option(help="Read counters.")] = None,
    read_members: Annotated[
        bool | None, typer.Option(help="See the points of members whose points it has not moved.")
    ] = None,
    offers: Annotated[bool | None, typer.Option(help="Ask for members' offers, and take them.")] = None,
    explain_offers: Annotated[bool | None, typer.Option(help="Be told why offers fail.")] = None,
    load_places: Annotated[bool | None, typer.Option(help="Load places and regions.")] = None,
    positions: Annotated[bool | None, typer.Option(help="Say where members are.")] = None,
    exchanges: Annotated[bool | None, typer.Option(help="Bring points of its members.")] = None,
    country: Annotated[
        list[str] | None, typer.Option(help="The countries where it may award, instead of those so far; repeat it.")
    ] = None,
    all_countries: Annotated[bool, typer.Option("--all-countries", help="It may award in every country.")] = False,
    source: Annotated[
        list[str] | None,
        typer.Option(help="The sources of transactions that it may name beside its own id, instead of those so far."),
    ] = None,
    no_source: Annotated[bool, typer.Option("--no-source", help="It may name its own id only.")] = False,
    card: Annotated[str | None, typer.Option(help="The scope of its own rate card (partner:acme).")] = None,
    no_card: Annotated[bool, typer.Option("--no-card", help="No card of its own: the country's.")] = False,
    requests_per_minute: Annotated[
        int | None, typer.Option(min=1, max=MOST_REQUESTS_PER_MINUTE, help="Requests a minute.")
    ] = None,
) -> Answer:
    """Change the rights that the options name, and print each before and after. All others stay as they are.

    Limits are changed by `limit`, keys by `rotate-key`, signatures by `sign`.
    """
    change: dict[str, Any] = {
        "name": name,
        "fixed_points": fixed_points,
        "computed_points": computed_points,
        "countries": tuple(dict.fromkeys(country)) if country else None,
        "card_scope": card,
        "requests_per_minute": requests_per_minute,
        "may_spend": spend,
        "may_adjust": adjust,
        "may_see_others": see_others,
        "may_count": counts,
        "may_read_members": read_members,
        "may_use_offers": offers,
        "may_explain_offers": explain_offers,
        "may_load_places": load_places,
        "may_send_positions": positions,
        "may_exchange": exchanges,
        "sources": () if no_source else tuple(dict.fromkeys(source)) if source else None,
    }
    change = {field: value for field, value in change.items() if value is not None}
    if (all_countries and country) or (no_card and card is not None) or (no_source and source):
        raise Refused("--all-countries with --country, or --no-card with --card: say one of the two")
    if all_countries:
        change["countries"] = ()
    if no_card:
        change["card_scope"] = None
    if not change:
        raise Refused("say what to change; `abacus partners set --help` names the options")
    async with actor() as at:
        named = RightsChange(**change)  # type: ignore[typeddict-item]  # the fields were named above
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="set", **change)
        before, after = await PartnerStore(at.pool, at.clock).change(partner, named, also=also)
    changed = {field: (getattr(before, field), getattr(after, field)) for field in _OPTIONS if field in change}
    shown = {field: {"before": old, "after": new} for field, (old, new) in changed.items()}
    lines = (f"{partner}: {_OPTIONS[field]} {_shown(before, field)} -> {_shown(after, field)}" for field in changed)
    return Answer({"partner_id": partner, "changed": shown}, *lines)


def _shown(partner: Partner, field: str) -> str:
    if field == "sources":
        return sources_in_words(partner)
    match getattr(partner, field):
        case bool(value):
            return "yes" if value else "no"
        case tuple(countries):
            return ", ".join(countries) or "all"
        case int(number):
            return f"{number:,}"
        case None:
            return "the country's"
        case value:
            return str(value)

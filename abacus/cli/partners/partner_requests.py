"""`abacus partners requests`: what a partner asked the API for lately."""

from typing import Annotated, Final

import typer

from abacus.cli.partners.partner_words import PartnerId
from abacus.cli.terminal.answer import Answer, Aside, Columns, Table
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted
from abacus.intake.partners.store import PartnerStore

_COLUMNS: Final[Columns[Noted]] = {
    "at": lambda each: f"{each.at:%Y-%m-%d %H:%M:%S}",
    "request": lambda each: each.request_id,
    "keys": lambda each: each.mode,
    "asked": lambda each: f"{each.method} {each.path}",
    "answer": lambda each: str(each.status),
    "took": lambda each: f"{each.took_s * 1000:,.0f} ms",
    "problem": lambda each: each.problem,
    "detail": lambda each: each.detail,
}


async def requests(
    partner: PartnerId,
    request: Annotated[str | None, typer.Option(help="Only requests with this X-Request-Id.")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only what was refused.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most requests to print, the newest.")] = 50,
) -> Answer:
    """Show what a partner asked the API for in the last 7 days: changes, and all that was refused.

    Of each sort a process of the API notes 10 requests a second; what was posted is in the ledger.
    """
    async with pool() as opened:
        await PartnerStore(opened, SystemClock()).get(partner)  # refuses a name that nobody has
        store = RequestStore(opened)
        if request is not None:
            found = await store.named(partner, request, limit=limit)
            found = [each for each in found if each.is_refused or not refused]
        else:
            found = await store.latest(partner, refused=refused, limit=limit)
    shown = Table.of(f"Requests of {partner}", found, _COLUMNS) if found else Aside("none was noted")
    return Answer([each._asdict() for each in found], shown)

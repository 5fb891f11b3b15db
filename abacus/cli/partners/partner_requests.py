"""`abacus partners requests`: what a partner asked the API for lately."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer, Aside, Table
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted
from abacus.intake.partners.store import PartnerStore

_COLUMNS: Final = ["at", "request", "keys", "asked", "answer", "took", "problem", "detail"]


async def requests(
    partner: Annotated[str, typer.Argument(metavar="PARTNER", help="The partner's id, for example acme.")],
    request: Annotated[str | None, typer.Option(help="Only requests with this X-Request-Id.")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only what was refused.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many, the newest.")] = 50,
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
    if found:
        return Answer([each._asdict() for each in found], Table(f"Requests of {partner}", _COLUMNS, _rows(found)))
    return Answer([each._asdict() for each in found], Aside("none was noted"))


def _rows(found: Sequence[Noted]) -> list[list[object]]:
    return [
        [
            f"{each.at:%Y-%m-%d %H:%M:%S}",
            each.request_id,
            each.mode,
            f"{each.method} {each.path}",
            str(each.status),
            f"{each.took_s * 1000:,.0f} ms",
            each.problem,
            each.detail,
        ]
        for each in found
    ]

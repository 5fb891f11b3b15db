"""`abacus counters cache`: for which share of the counters closed parts are kept."""

from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import acting
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.people.types.deed import Deed
from abacus.signals.counters.reading.cache_share import ALL, CacheShareStore, Share

_NOBODY: Final = {"percent": 0, "set_at": None, "set_by": None}


async def cache(
    share: Annotated[
        int | None,
        typer.Option(min=0, max=ALL, help="The percentage of counters, by the last two digits of their ids."),
    ] = None,
) -> Answer:
    """Show for how many counters the closed parts of answers are kept, or set it; it is in force within a second."""
    async with pool() as opened:
        if share is None:
            known = await CacheShareStore(opened, SystemClock()).read()
        else:
            at = await acting(opened)
            also = at.does(Deed.RUN_JOBS, "counters", did="cache", share=share)
            known = await CacheShareStore(opened, at.clock).set(share, by=at.actor.source, also=also)
    return Answer(_NOBODY if known is None else known._asdict(), _in_words(known))


def _in_words(share: Share | None) -> str:
    if share is None:
        return "nothing is kept: every answer is read from the store"
    since = f"since {share.set_at:%Y-%m-%d %H:%M} UTC, by {share.set_by}"
    if not share.percent:
        return f"nothing is kept, {since}"
    if share.percent == ALL:
        return f"closed parts of all counters are kept, {since}"
    return f"closed parts are kept of counters whose id ends below {share.percent:02}, {since}"

"""`abacus caches`: what processes keep of answers, of which share of the keys, and whether they keep any."""

from collections.abc import Sequence
from typing import Annotated

import typer

from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, pool
from abacus.core.clock import SystemClock
from abacus.oversight.status.caches import CachesNow, cached_route, read_caches
from abacus.oversight.status.decide.caches import CacheInUse
from abacus.people.types.deed import Deed
from abacus.platform.reading.cache_shares import SettingStore
from abacus.platform.reading.decide.shares import ALL_CACHES, Setting, name_of
from abacus.platform.reading.types import ALL

app = CommandGroup(help="Answers that processes keep.", no_args_is_help=True)

_COLUMNS = ["route", "process", "share", "asked", "without computing", "failed or old", "answers", "KiB"]


@app.command("list")
async def list_() -> Answer:
    """Show what running processes keep, and how callers were answered."""
    async with pool() as opened:
        found = await read_caches(opened, SystemClock())
    return Answer(
        {"off": found.are_off, "caches": [_document(each) for each in found.caches]},
        *_said(found),
        Table("Caches", _COLUMNS, [_row(each) for each in found.caches]),
    )


@app.command()
async def share(
    route: Annotated[str, typer.Argument(help="As `abacus caches list` shows it.")],
    percent: Annotated[int, typer.Argument(min=0, max=ALL, help="Of the keys; what is beyond it is dropped at once.")],
) -> Answer:
    """Set of which share of its keys answers of a route are kept; it is in force within a second."""
    route = cached_route(route)
    words = f"answers of {route} are kept of {percent} % of the keys"
    return await _set(name_of(route), percent, "cache-share", route, words)


@app.command()
async def off() -> Answer:
    """Switch all caches of answers off, and that of counts: all is computed, and nothing kept. Within a second."""
    return await _set(ALL_CACHES, 0, "caches-off", ALL_CACHES, "all caches are switched off")


@app.command()
async def on() -> Answer:
    """Switch them on again: each keeps its share."""
    return await _set(ALL_CACHES, ALL, "caches-on", ALL_CACHES, "caches are switched on, each with its share")


async def _set(name: str, percent: int, did: str, subject: str, words: str) -> Answer:
    async with actor() as at:
        also = at.does(Deed.RUN_JOBS, subject, did=did, share=percent)
        setting = await SettingStore(at.pool, at.clock).set(name, percent, by=at.actor.source, also=also)
    return Answer(_told(setting), words)


def _told(setting: Setting) -> dict[str, object]:
    return {"percent": setting.value, "set_at": setting.set_at, "set_by": setting.set_by}


def _said(found: CachesNow) -> Sequence[str]:
    return ["all caches are switched off"] if found.are_off else []


def _document(each: CacheInUse) -> dict[str, object]:
    shown = {"route": each.route, "process": each.process, "share": each.share, "hit_rate": each.hit_rate}
    return {**shown, **each.note._asdict()}


def _row(each: CacheInUse) -> Sequence[str]:
    return [
        each.route,
        each.process,
        "its own" if each.share is None else f"{each.share} %",
        f"{each.asked:,}",
        f"{100 * each.hit_rate:.1f} %",
        f"{each.of('away', 'failed'):,}",
        f"{each.note.entries:,}",
        f"{each.note.bytes / 1024:,.0f}",
    ]

"""Deletes the rows of a slice that are over, in small steps.

It reads a table in the order in which the rows lie on the disk, a page of rows at a time, and no index is kept for it:
rows that are written by the thousand a second would pay for one. Each step is a transaction of its own, so a sweep that
is cut off has done what it has done. A row that somebody has locked stays until the next sweep.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple

from abacus.platform.retention.life import Life
from abacus.platform.slices import Slice
from abacus.platform.sql import Statement

PAUSE_S: Final = 0.1  # in which others have the disk
_BEGINNING: Final = "(0,0)"


class Swept(NamedTuple):
    """What a step has looked at, and deleted."""

    seen: int
    deleted: int


class _Page(NamedTuple):
    """The result of one step: the last row is by its place."""

    seen: int
    last: str | None
    deleted: int


async def sweep(slice_: Slice, life: Life, now: datetime, *, pause_s: float = PAUSE_S) -> AsyncIterator[Swept]:
    """Through the table once, step by step. Raises `Unavailable`."""
    statement, after = _statement(life), _BEGINNING
    while True:
        async with slice_.within() as connection:
            row = await connection.fetchrow(*statement(after=after, before=now - life.kept, page=life.page))
        step = _Page(*row)
        yield Swept(step.seen, step.deleted)
        if step.last is None or step.seen < life.page:
            return
        after = step.last
        await asyncio.sleep(pause_s)


# A page that is locked at the same time may have other rows by then, so each is judged again.
@cache
def _statement(life: Life) -> Statement:
    table = life.table
    return Statement(f"""
        with page as materialized (
            select ctid as place, ({life.over}) as is_over from {table} where ctid > :after::text::tid
            limit :page::bigint
        ), free as materialized (
            select ctid as place from {table}
            where ctid = any(array(select place from page where is_over)) and ({life.over})
            for update skip locked
        ), gone as (
            delete from {table} where ctid = any(array(select place from free)) returning 1
        )
        select (select count(*) from page), (select max(place)::text from page), (select count(*) from gone)
    """)

"""Exchanges by their whole id, and by the id or the reference that their partner gave them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from abacus.console.pages.exchanges.exchange_row import ExchangeRow, row_of
from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.exchanges.decide.exchange import State, inbound_id
from abacus.exchanges.exchange_rows import Which, listed, of_ids
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.people.types.deed import Deed
from abacus.platform.postgres import passing_failures


async def _exchanges(call: Call, text: str, most: int) -> Sequence[Found]:
    ids = await _ids(call, text.removeprefix("exchange:"))
    pool, which = call.reading.pool, Which(reference=text, countries=call.countries(Deed.SEE))
    async with passing_failures():
        found = {**await of_ids(pool, ids), **{each.exchange_id: each for each in await listed(pool, most, which)}}
    seen = [
        row_of(each, call.now)
        for each in found.values()
        if each.state is not State.QUOTED and call.may(Deed.SEE, each.country)
    ]
    return [_found(each) for each in seen[:most]]


async def _ids(call: Call, text: str) -> set[UUID]:
    try:
        return {UUID(text)}
    except ValueError:
        pass
    partners = await ProgrammeStore(call.reading.pool).partners()
    return {inbound_id(partner, text) for partner in set(partners.values())}


def _found(row: ExchangeRow) -> Found:
    detail = f"{row.state}, {row.points:,} points {row.direction}, {row.member_id}, {row.country}"
    return Found("exchange", row.id, f"exchange with {row.programme}", detail, exact=True)


EXCHANGES: Final = Finder("Exchanges", _exchanges)

"""Statements: every change of every id is told once, and the lines add up to the sums. Played last."""

import asyncio
import time
from collections import Counter
from datetime import timedelta
from typing import Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import AMOUNT, Broken, Kit
from abacus.exchanges.types import StatementState

CASES: Final = Cases()
_LOOK_EVERY_S: Final = 0.2


@CASES.case("every id that was changed is told")
async def statement_complete_lines(kit: Kit) -> None:
    until = time.monotonic() + kit.wait_s
    while missing := await _missing(kit):
        if time.monotonic() > until:
            state, id_ = missing[0]
            raise Broken(f"{len(missing)} changes are missing, {id_} that was {state} for example")
        await asyncio.sleep(_LOOK_EVERY_S)


async def _missing(kit: Kit) -> list[tuple[str, str]]:
    told = {(line.get("state"), line.get("id")) for line in await kit.lines()}
    changed = [(state.value, id_) for state in StatementState for id_ in sorted(kit.heard[state.value])]
    return [each for each in changed if each not in told]


@CASES.case("an id is credited once, and reversed once, with its amount")
async def statement_once(kit: Kit) -> None:
    ours = set.union(*(kit.heard[state.value] for state in StatementState))
    lines = [line for line in await kit.lines() if line.get("id") in ours]
    counts = Counter((line.get("id"), line.get("state")) for line in lines)
    for (id_, state), count in counts.items():
        if count > 1:
            raise Broken(f"{id_} is told as {state} {count} times")
    for line in lines:
        if line.get("state") in {"rejected", "cancelled"} and line.get("amount") != 0:
            raise Broken(f"{line.get('id')} was {line.get('state')} with {line.get('amount')!r} points")
        if line.get("state") in {"credited", "reversed"} and line.get("amount") not in {AMOUNT, 1}:
            raise Broken(f"{line.get('id')} was {line.get('state')} with {line.get('amount')!r} points, not {AMOUNT}")


@CASES.case("what was refused or cancelled is told as credited by no line")
async def statement_refusals(kit: Kit) -> None:
    never = (kit.heard["rejected"] | kit.heard["cancelled"]) - kit.heard["credited"] - kit.heard["reversed"]
    for line in await kit.lines():
        if line.get("id") in never and line.get("state") in {"credited", "reversed"}:
            raise Broken(f"{line.get('id')} was refused or cancelled, and is told as {line.get('state')}")


@CASES.case("the count and the sums are those of the lines")
async def statement_sums(kit: Kit) -> None:
    for day in kit.days():
        document = (await kit.statement(day)).document
        lines, sums = document.get("lines"), document.get("sums")
        if not isinstance(lines, list) or not isinstance(sums, dict):
            raise Broken("lines and sums were expected")
        if document.get("count") != len(lines):
            raise Broken(f"{len(lines)} lines are counted as {document.get('count')!r}")
        for state in StatementState:
            total = sum(line.get("amount", 0) for line in lines if line.get("state") == state.value)
            if sums.get(state.value) != total:
                raise Broken(f"the lines have {total} points {state.value}, and the sum is {sums.get(state.value)!r}")


@CASES.case("a day that is over is complete and does not change, and today is not over")
async def statement_days(kit: Kit) -> None:
    today = kit.days()[-1]
    first, again = [(await kit.statement(today - timedelta(days=2))).document for _ in range(2)]
    if first.get("complete") is not True:
        raise Broken(f"the statement of {today - timedelta(days=2)} is not complete")
    if first != again:
        raise Broken(f"the statement of {today - timedelta(days=2)} has changed")
    document = (await kit.statement(today)).document
    if document.get("date") != today.isoformat():
        raise Broken(f"the statement of {today} says that it is of {document.get('date')!r}")
    if document.get("complete") is not False and today == kit.days()[-1]:
        raise Broken("the statement of today says that it is complete")

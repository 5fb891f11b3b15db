"""Cancels and reversals: a tombstone for every id that is not credited, and one debit for a credited id."""

import asyncio
from http import HTTPStatus
from typing import Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import AMOUNT, Broken, Kit, NotOffered, expect, expect_credited, new_id
from abacus.exchanges.decide.contract import CANCELLED, JSON, NOT_REVERSIBLE, PROBLEM, UNKNOWN_ID

CASES: Final = Cases()
_ROUNDS: Final = 5


@CASES.case("a cancel writes a tombstone for an id that never came")
async def cancel_unknown(kit: Kit) -> None:
    await _cancelled(kit)


@CASES.case("a transfer that arrives after the cancel is refused, as often as it comes")
async def cancel_then_put(kit: Kit) -> None:
    id_ = await _cancelled(kit)
    for _ in range(2):
        expect(await kit.put(id_, kit.facts()), 422, PROBLEM, id_, type_={CANCELLED})


@CASES.case("GET tells of a tombstone")
async def cancel_get(kit: Kit) -> None:
    id_ = await _cancelled(kit)
    expect(await kit.get(id_), 200, JSON, id_, state={"cancelled"})


@CASES.case("a cancel that comes again is answered as before")
async def cancel_repeat(kit: Kit) -> None:
    id_ = await _cancelled(kit)
    expect(await kit.act(id_, "cancel"), 200, JSON, id_, state={"cancelled"})


@CASES.case("a cancel of what is credited says so, and changes nothing")
async def cancel_credited(kit: Kit) -> None:
    id_, _ = await kit.credited()
    for _ in range(2):
        expect_credited(await kit.act(id_, "cancel"), id_)
    expect_credited(await kit.get(id_), id_)


@CASES.case("a transfer and its cancel at once end in one place, and both are told which")
async def cancel_at_once(kit: Kit) -> None:
    for _ in range(_ROUNDS):
        id_, facts = new_id(), kit.facts()
        put, cancelled = await asyncio.gather(kit.put(id_, facts), kit.act(id_, "cancel"))
        if put.status == HTTPStatus.OK:
            expect_credited(put, id_)
            expect_credited(cancelled, id_)
            expect_credited(await kit.get(id_), id_)
        else:
            expect(put, 422, PROBLEM, id_, type_={CANCELLED})
            expect(cancelled, 200, JSON, id_, state={"cancelled"})
            expect(await kit.get(id_), 200, JSON, id_, state={"cancelled"})


@CASES.case("a cancelled transfer is not taken back")
async def cancel_reverse(kit: Kit) -> None:
    id_ = await _cancelled(kit)
    expect(await kit.act(id_, "reverse"), 422, PROBLEM, id_, type_={NOT_REVERSIBLE})


@CASES.case("what was credited is taken back")
async def reverse(kit: Kit) -> None:
    await _reversed(kit)


@CASES.case("a reversal that comes again is answered as before")
async def reverse_twice(kit: Kit) -> None:
    id_ = await _reversed(kit)
    said = await asyncio.gather(*[kit.act(id_, "reverse") for _ in range(2)])
    for each in said:
        expect(each, 200, JSON, id_, state={"reversed"})


@CASES.case("a transfer that arrives after its reversal is not credited again")
async def reverse_then_put(kit: Kit) -> None:
    id_ = await _reversed(kit)
    expect(await kit.put(id_, kit.facts()), 200, JSON, id_, state={"reversed"})
    expect(await kit.get(id_), 200, JSON, id_, state={"reversed"})


@CASES.case("an id that never came is not taken back: 404 unknown-id")
async def reverse_unknown(kit: Kit) -> None:
    said = await kit.act(new_id(), "reverse")
    if said.status == HTTPStatus.UNPROCESSABLE_ENTITY and said.document.get("type") == NOT_REVERSIBLE:
        raise NotOffered("the partner takes nothing back")
    expect(said, 404, PROBLEM, type_={UNKNOWN_ID})


async def _cancelled(kit: Kit) -> str:
    id_ = new_id()
    expect(await kit.act(id_, "cancel"), 200, JSON, id_, state={"cancelled"})
    return id_


async def _reversed(kit: Kit) -> str:
    """Raises `NotOffered` where the partner takes nothing back; then the credit has to stand."""
    id_, _ = await kit.credited()
    said = await kit.act(id_, "reverse")
    if said.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        expect(said, 422, PROBLEM, id_, type_={NOT_REVERSIBLE})
        expect_credited(await kit.get(id_), id_)
        raise NotOffered("the partner takes nothing back")
    expect(said, 200, JSON, id_, state={"reversed"})
    if said.document.get("amount") != AMOUNT:
        raise Broken(f"{AMOUNT} points were to be debited, and {said.document.get('amount')!r} were told")
    return id_

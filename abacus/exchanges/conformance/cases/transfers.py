"""Credits: once under an id, whatever comes, and however it comes."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import AMOUNT, POINTS, Broken, Kit, Said, expect, expect_credited, new_id
from abacus.exchanges.decide.contract import JSON, OTHER_FACTS, PROBLEM, UNKNOWN_ID

CASES: Final = Cases()
_AT_ONCE: Final = 10
_MANY: Final = 50


@CASES.case("a transfer is credited with its amount")
async def credit(kit: Kit) -> None:
    await kit.credited()


@CASES.case("the same again is answered as before")
async def credit_repeat(kit: Kit) -> None:
    id_, first = await kit.credited()
    for _ in range(2):
        _same(first, expect_credited(await kit.put(id_, kit.facts()), id_))


@CASES.case("GET tells what was answered")
async def credit_get(kit: Kit) -> None:
    id_, first = await kit.credited()
    _same(first, expect_credited(await kit.get(id_), id_))


@CASES.case("the same at another time of asking is the same")
async def credit_asked_later(kit: Kit) -> None:
    id_, first = await kit.credited(kit.facts(asked_at="2020-01-01T00:00:00Z"))
    _same(first, expect_credited(await kit.put(id_, kit.facts(asked_at="2020-01-01T08:00:01+08:00")), id_))


@CASES.case("the same, ten times at once, is credited once")
async def credit_at_once(kit: Kit) -> None:
    id_, facts = new_id(), kit.facts()
    said = await asyncio.gather(*[kit.put(id_, facts) for _ in range(_AT_ONCE)])
    for each in said:
        _same(said[0], expect_credited(each, id_))


@CASES.case("fifty transfers at once are all credited")
async def credit_many(kit: Kit) -> None:
    await asyncio.gather(*[kit.credited() for _ in range(_MANY)])


@CASES.case("a connection that is cut after the question leaves nothing twice")
async def credit_cut(kit: Kit) -> None:
    id_, facts = new_id(), kit.facts()
    await kit.hang_up_after("PUT", f"/transfers/{id_}", facts)
    first = expect_credited(await kit.put(id_, facts), id_)
    _same(first, expect_credited(await kit.get(id_), id_))


@CASES.case("what the contract does not have in a body is ignored")
async def credit_unknown_fields(kit: Kit) -> None:
    facts = kit.facts(campaign="spring", account={"number": kit.accounts.open, "tier": "gold"})
    await kit.credited(facts)


@CASES.case("the smallest amount is credited, or refused for ever")
async def credit_one_point(kit: Kit) -> None:
    id_ = new_id()
    said = await kit.put(id_, kit.facts(amount=1, points=2))
    if said.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        expect(said, 422, PROBLEM, id_, type_={"amount-not-allowed"})
    else:
        expect_credited(said, id_, 1)


@CASES.case("another amount under the id is 409, and nothing changes")
async def other_amount(kit: Kit) -> None:
    await _other(kit, amount=AMOUNT + 1)


@CASES.case("another account under the id is 409, and nothing changes")
async def other_account(kit: Kit) -> None:
    await _other(kit, account={"number": kit.accounts.other})


@CASES.case("other points of the house under the id are 409, and nothing changes")
async def other_points(kit: Kit) -> None:
    await _other(kit, points=POINTS + 1)


@CASES.case("another programme under the id is 409, and nothing changes")
async def other_programme(kit: Kit) -> None:
    await _other(kit, programme="conformance@2")


@CASES.case("GET of an id that never came is 404 unknown-id")
async def get_unknown(kit: Kit) -> None:
    expect(await kit.get(new_id()), 404, PROBLEM, type_={UNKNOWN_ID})


async def _other(kit: Kit, **changed: Any) -> None:
    id_, first = await kit.credited()
    expect(await kit.put(id_, kit.facts(**changed)), 409, PROBLEM, id_, type_={OTHER_FACTS})
    _same(first, expect_credited(await kit.get(id_), id_))


def _same(first: Said, again: Said) -> None:
    told = [(each.document.get("amount"), each.document.get("reference")) for each in (first, again)]
    if told[0] != told[1]:
        raise Broken(f"the amount and the reference were {told[0]!r} first, and then {told[1]!r}")
    expect(again, 200, JSON)

"""Refusals: definite, and remembered for the id for ever."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import Broken, Kit, expect, expect_credited, expect_refused, new_id
from abacus.exchanges.decide.contract import CANCELLED, JSON, NOT_REVERSIBLE, OTHER_FACTS, PROBLEM

CASES: Final = Cases()
_AT_ONCE: Final = 10


@CASES.case("a transfer to a closed account is refused for ever")
async def refused_closed(kit: Kit) -> None:
    id_, said = await kit.refused(kit.accounts.closed)
    expect_refused(said, id_, "account-closed")


@CASES.case("a transfer to an unknown account is refused for ever")
async def refused_unknown(kit: Kit) -> None:
    id_, said = await kit.refused(kit.accounts.unknown)
    expect_refused(said, id_, "account-unknown")


@CASES.case("a refusal is remembered: the same again is refused again")
async def refused_repeat(kit: Kit) -> None:
    id_, first = await kit.refused(kit.accounts.closed)
    for _ in range(2):
        again = await kit.put(id_, kit.facts(kit.accounts.closed))
        expect_refused(again, id_, str(first.document["type"]))


@CASES.case("a refusal that comes ten times at once is one refusal")
async def refused_at_once(kit: Kit) -> None:
    id_, facts = new_id(), kit.facts(kit.accounts.closed)
    for said in await asyncio.gather(*[kit.put(id_, facts) for _ in range(_AT_ONCE)]):
        expect_refused(said, id_)


@CASES.case("GET tells of a refusal, with its type")
async def refused_get(kit: Kit) -> None:
    id_, first = await kit.refused(kit.accounts.closed)
    expect(await kit.get(id_), 200, JSON, id_, state={"rejected"}, type_={str(first.document["type"])})


@CASES.case("a refused id is not credited to an open account either")
async def refused_with_an_open_account(kit: Kit) -> None:
    id_, _ = await kit.refused(kit.accounts.closed)
    said = await kit.put(id_, kit.facts())
    if said.status == HTTPStatus.CONFLICT:
        expect(said, 409, PROBLEM, id_, type_={OTHER_FACTS})
    else:
        expect_refused(said, id_)


@CASES.case("a cancel of a refused id leaves it refused for ever")
async def refused_cancel(kit: Kit) -> None:
    id_, _ = await kit.refused(kit.accounts.closed)
    expect(await kit.act(id_, "cancel"), 200, JSON, id_, state={"rejected", "cancelled"})
    said = await kit.put(id_, kit.facts(kit.accounts.closed))
    if said.document.get("type") == CANCELLED:
        expect(said, 422, PROBLEM, id_)
    else:
        expect_refused(said, id_)


@CASES.case("a refused transfer is not taken back")
async def refused_reverse(kit: Kit) -> None:
    id_, _ = await kit.refused(kit.accounts.closed)
    expect(await kit.act(id_, "reverse"), 422, PROBLEM, id_, type_={NOT_REVERSIBLE})


@CASES.case("no amount, and an amount that is no whole number, are credited by nobody")
async def refused_amounts(kit: Kit) -> None:
    wrong: tuple[Any, ...] = (0, -5, "500", 500.5, None, True, 2**63)
    for amount in wrong:
        id_ = new_id()
        said = await kit.put(id_, kit.facts(amount=amount))
        if not said.refuses or said.media_type != PROBLEM:
            raise Broken(f"the amount {amount!r}: a problem of 4xx was expected, and {said.words} came")
        await kit.check_not_credited(id_)


@CASES.case("what is only wrong for now is no 422: an id that was unreadable first is credited afterwards")
async def refused_unreadable(kit: Kit) -> None:
    id_ = new_id()
    said = await kit.ask("PUT", f"/transfers/{id_}", body=b"{")
    if not said.refuses or said.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise Broken(f"400 was expected for what is no JSON, and {said.words} came")
    expect_credited(await kit.put(id_, kit.facts()), id_)

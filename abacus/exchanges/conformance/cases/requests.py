"""Requests that nobody should send: refused, and nothing is done."""

from typing import Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import Broken, Kit, expect_problem, new_id

CASES: Final = Cases()
_HUGE: Final = 512 * 1024


@CASES.case("a method that the path does not take is 404 or 405")
async def wrong_method(kit: Kit) -> None:
    id_ = new_id()
    for method, path in (("DELETE", f"/transfers/{id_}"), ("GET", f"/transfers/{id_}/cancel"), ("PUT", "/statement")):
        expect_problem(await kit.ask(method, path), 404, 405)
    await kit.check_not_credited(id_)


@CASES.case("a path that is not in the contract is 404")
async def wrong_path(kit: Kit) -> None:
    expect_problem(await kit.ask("POST", f"/transfers/{new_id()}/credit"), 404, 405)


@CASES.case("a body of half a mebibyte is refused, and nothing is done")
async def huge_body(kit: Kit) -> None:
    id_ = new_id()
    try:
        said = await kit.ask("PUT", f"/transfers/{id_}", kit.facts(note="x" * _HUGE))
    except Broken:  # the server has hung up, which says nothing either
        pass
    else:
        expect_problem(said, 400, 413)
    await kit.check_not_credited(id_)


@CASES.case("an id that is no UUID is refused")
async def wrong_id(kit: Kit) -> None:
    expect_problem(await kit.ask("PUT", "/transfers/1", kit.facts()), 400, 404)


@CASES.case("a statement without a day, or of a day that is none, is refused")
async def wrong_day(kit: Kit) -> None:
    for query in ("", "?date=", "?date=2026-02-30", "?date=yesterday"):
        expect_problem(await kit.ask("GET", f"/statement{query}"), 400, 404)

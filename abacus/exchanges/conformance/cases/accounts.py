"""What the partner says of accounts."""

from typing import Final

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import Broken, Kit, expect, expect_problem
from abacus.exchanges.decide.contract import JSON, VERIFY_PATH

CASES: Final = Cases()


@CASES.case("an open account is a match")
async def verify_open(kit: Kit) -> None:
    await _verified(kit, kit.accounts.open, "match")


@CASES.case("a closed account is closed")
async def verify_closed(kit: Kit) -> None:
    await _verified(kit, kit.accounts.closed, "closed")


@CASES.case("an unknown account is none")
async def verify_unknown(kit: Kit) -> None:
    await _verified(kit, kit.accounts.unknown, "none")


@CASES.case("a question without a number is a problem")
async def verify_without_a_number(kit: Kit) -> None:
    expect_problem(await kit.ask("POST", VERIFY_PATH, {}), 400, 422)


async def _verified(kit: Kit, number: str, match: str) -> None:
    said = expect(await kit.ask("POST", VERIFY_PATH, {"number": number}), 200, JSON)
    if said.document.get("match") != match:
        raise Broken(f"the match {match!r} was expected, and {said.document.get('match')!r} came")

"""`abacus members transfers` and `show`: a member's history, and the answer for nobody."""

import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from tests.support.commands import abacus
from tests.support.forgetting import granted
from tests.support.house import House

pytestmark = pytest.mark.once


@pytest.fixture
async def bob(house: House) -> House:
    ledger = PostgresLedger(house.pool, SystemClock())
    for number in range(3):
        await ledger.post([granted(f"txn:taxi:T{number}", member_id="bob")])
    await ledger.post([granted("txn:taxi:OVO", member_id="bob", program="OVO", country="ID")])
    return house


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ([], ["txn:taxi:OVO", "txn:taxi:T2", "txn:taxi:T1", "txn:taxi:T0"]),
        (["--program", "GRP"], ["txn:taxi:T2", "txn:taxi:T1", "txn:taxi:T0"]),
        (["--limit", "2"], ["txn:taxi:OVO", "txn:taxi:T2"]),
    ],
    ids=["all", "of one program", "the last two"],
)
async def test_the_newest_transfers_come_first(bob: House, options: list[str], keys: list[str]) -> None:
    env = bob.environment()
    as_json = (await abacus("members", "transfers", "bob", *options, "--json", env=env)).json
    assert [each["key"] for each in as_json["transfers"]] == keys
    shown = (await abacus("members", "transfers", "bob", *options, env=env)).out
    assert [line.removeprefix("key: ") for line in shown.splitlines() if line.startswith("key: ")] == keys


async def test_a_transfer_has_the_names_that_the_api_gives_it(bob: House) -> None:
    [newest, *_] = (
        await abacus("members", "transfers", "bob", "--program", "GRP", "--json", env=bob.environment())
    ).json["transfers"]
    assert (newest["id"], newest["points"], newest["balance_after"]) == ("bob:GRP:3", 10, 30)
    assert newest["explanation"]["granted_by"] == "acme"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show", "nobody"], "abacus: there is no account of 'nobody'"),
        (["show", "nobody", "--as-of", "2020-01-01T00:00:00Z"], "abacus: there is no account of 'nobody'"),
        (["transfers", "nobody"], "abacus: there is no account of 'nobody'"),
        (["transfers", "bob", "--program", "XYZ"], "abacus: there is no account of XYZ of 'bob'"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("output", [[], ["--json"]], ids=["table", "json"])
async def test_nobody_is_told_in_a_line_and_by_the_exit_code(
    bob: House, arguments: list[str], line: str, output: list[str]
) -> None:
    ran = await abacus("members", *arguments, *output, env=bob.environment())
    assert (ran.code, ran.out, ran.err) == (1, "", f"{line}\n")

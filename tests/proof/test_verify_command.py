"""The command `ledger verify`: its exit codes, its lines, and the options that it refuses."""

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from abacus.proof.store import Seals
from tests.proof.reported import MEMBERS
from tests.support.commands import abacus
from tests.support.logged import logged
from tests.support.sealing import fill, tampering
from tests.support.slices import SLICES


@pytest.mark.long
async def test_the_command(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    for card in example_cards():
        also = logged(f"card:{card.scope}", Deed.PUBLISH_RATES)
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=also)
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    for processes in "12":
        clean = await abacus("ledger", "verify", "--processes", processes, "--json", env=env)
        assert (clean.code, clean.json) == (
            0,
            {"clean": True, "accounts": 3, "transfers": 9, "seals": [1], "faults": [], "more_faults": 0},
        )
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = 1 where member_id in ('bob', 'eve')")
        await superuser.execute("update seal set transfers = 10")
    report = await abacus("ledger", "verify", "--processes", "2", "--seals", "all", env=env)
    assert (report.code, report.out.splitlines()) == (
        1,
        [
            "bob GRP #3: the account's balance is 1, its transfers come to 216",
            "eve GRP #3: the account's balance is 1, its transfers come to 216",
            f"seal 1: its number of transfers is 10, {'the ledger comes' if SLICES == 1 else 'its slices come'} to 9",
            "seal 1: the hash does not match the row and the one before it",
            "3 accounts, 9 transfers, 1 seal: 4 faults",
        ],
    )
    member = await abacus("ledger", "verify", "--member", "bob", "--json", env=env)
    assert (member.code, member.json["accounts"], len(member.json["faults"])) == (1, 1, 1)
    some = await abacus("ledger", "verify", "--from", "adam", "--to", "adam", env=env)
    assert (some.code, some.out) == (0, "1 account, 3 transfers: clean\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--member", "bob", "--to", "eve"], "abacus: --member is one; leave out --from and --to"),
        (["--from", "eve", "--to", "bob"], "abacus: --to: 'bob' comes before 'eve', so nobody is meant"),
        (["--seals", "some"], "abacus: --seals: 'some' is neither a number nor `all`"),
        (["--seals", "2", "--from", "bob"], "abacus: --seals: a seal is over all members"),
    ],
    ids=" ".join,
)
async def test_what_is_refused(arguments: list[str], line: str, database_url: str) -> None:
    ran = await abacus("ledger", "verify", *arguments, env={"ABACUS_DATABASE_URL": database_url})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1

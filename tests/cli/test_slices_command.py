"""`abacus slices`, and the proofs of a ledger in slices, as people meet them while a server is away."""

import asyncpg
import pytest

from abacus.platform.cluster.placement import placement_at
from tests.support.cluster import Servers
from tests.support.commands import abacus, abacus_process
from tests.support.slices import SLICES

_NOT_CUT = "abacus: this ledger is not cut into slices\n"

# For the database of this test alone, where a slice's server is.
_IS_ELSEWHERE = "update pg_dist_node set nodeport = 1 where nodename = $1 and nodeport = $2"


@pytest.mark.skipif(SLICES > 1, reason="ABACUS_TEST_SLICES cuts the ledger")
@pytest.mark.parametrize(
    "arguments", [["list"], ["list", "--json"], ["move", "slice_0", "db:5432"], ["rebalance"], ["rebalance", "--json"]]
)
async def test_a_ledger_that_is_not_cut_is_said_to_be_so(database_url: str, arguments: list[str]) -> None:
    ran = await abacus("slices", *arguments, env={"ABACUS_DATABASE_URL": database_url})
    assert (ran.code, ran.out, ran.err) == (1, "", _NOT_CUT)


@pytest.mark.skipif(SLICES == 1, reason="ABACUS_TEST_SLICES does not cut the ledger")
async def test_commands_name_the_server_that_is_away(database_url: str, servers: Servers) -> None:
    if not servers.are_several:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus")
    env = {"ABACUS_DATABASE_URL": database_url}
    async with placement_at(database_url) as slices:
        host, port = (await slices.servers())[0]
        before = {each.schema: each.address for each in await slices.placed()}
    connection = await asyncpg.connect(database_url)
    await connection.execute(_IS_ELSEWHERE, host, port)
    await connection.close()

    listed = await abacus("slices", "list", env=env)
    away = [schema for schema, address in before.items() if address == (host, port)]
    assert away
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.count("its server does not answer") == len(away)
    sizes = {each["slice"]: each["bytes"] for each in (await abacus("slices", "list", "--json", env=env)).json}
    assert {schema for schema, size in sizes.items() if size is None} == set(away)

    for proof in ("verify", "seal"):
        ran = await abacus_process("ledger", proof, env=env)
        assert ran.code == 1
        assert ran.err.splitlines()[-1].startswith(f"abacus: database unavailable: {host}:1 ")
        assert "Traceback" not in ran.err

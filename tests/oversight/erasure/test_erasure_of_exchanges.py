"""A member who exchanged: links end, a quote is forgotten, and what is under way comes to rest first."""

import pytest

from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from tests.oversight.erasure.erasing import BOB, erase
from tests.support.forgetting import live

_AGAIN = """
insert into exchange select (json_populate_record(e, json_build_object(
    'exchange_id', gen_random_uuid(), 'state', $1::text, 'ended_at', null
))).* from exchange e
"""


async def test_what_was_exchanged_stays_without_the_name_and_links_end(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await owner.execute(_AGAIN, "quoted")
    pseudonym = await erase(owner)
    kept = await owner.fetch("select member_id, state, points, theirs, detail from exchange")
    assert [tuple(row) for row in kept] == [(pseudonym, "captured", 60, 25, "erased")], "a quote is nobody's"
    link = await owner.fetchrow("select * from exchange_link")
    assert (link["member_id"], link["shown"], link["ended_by"]) == (pseudonym, "erased", "erased")
    assert {link[name] for name in ("digest", "number", "holder", "code_digest")} == {None}
    assert link["ended_at"] is not None


@pytest.mark.parametrize("state", ["unknown", "reserved"])
async def test_an_exchange_under_way_comes_to_rest_first(pool: Pool, owner: Pool, state: str) -> None:
    await live(pool, BOB)
    await owner.execute(_AGAIN, state)
    with pytest.raises(Refused, match=f"of this member is {state}.*when it has ended"):
        await erase(owner)
    assert await owner.fetchval("select count(*) from exchange where member_id = $1", BOB) == 2

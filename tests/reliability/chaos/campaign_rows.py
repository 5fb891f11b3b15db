"""What campaigns have left behind, as it stands in the database and on the topic of events."""

from collections.abc import Iterable
from typing import Final

import orjson

from abacus.platform.postgres import Pool
from tests.reliability.chaos.campaigned import PRAISED
from tests.reliability.chaos.campaigns_judged import Action, Told, Transfer

_CLAIMS: Final = "select campaign, array_agg(key) from campaign_claim group by 1"
_SUMS: Final = """
select campaign, outcome, sum(events)::bigint, sum(points)::bigint from campaign_sum group by 1, 2
"""
_ACTIONS: Final = """
select owner, member_id, key, kind, done_at is not null, refused_at is not null from action
where owner_kind = 'campaign'
"""
_TRANSFERS: Final = "select key, member_id, points from transfer where starts_with(key, 'campaign:')"
_NOTICES: Final = "select event_id from notice where starts_with(event_id, 'campaign:')"
_EXHAUSTED: Final = "select name from campaign where status = 'exhausted'"


async def told_of_campaigns(pool: Pool, published: Iterable[bytes]) -> Told:
    """`published` are the messages on the topic of events."""
    return Told(
        claims={row[0]: row[1] for row in await pool.fetch(_CLAIMS)},
        sums={(row[0], row[1]): (row[2], row[3]) for row in await pool.fetch(_SUMS)},
        actions=[Action(*row) for row in await pool.fetch(_ACTIONS)],
        transfers=[Transfer(*row) for row in await pool.fetch(_TRANSFERS)],
        notices=[row[0] for row in await pool.fetch(_NOTICES)],
        published=[event["id"] for event in map(orjson.loads, published) if event["type"] == PRAISED],
        exhausted=frozenset(row[0] for row in await pool.fetch(_EXHAUSTED)),
    )

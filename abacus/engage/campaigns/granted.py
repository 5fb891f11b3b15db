"""What was granted under a key: an offer or a reward, and what came of it."""

from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.engage.actions.decide.deeds import DeedKind
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement

_MEMBER: Final = Statement("select member_id from campaign_claim where key = :key")
_GRANTS: Final = Statement(f"""
select key || '/' || number, owner, version, step, member_id, document::text, decided_at, done_at, refused_at, reason
from action where member_id = :member_id and key = :key and owner_kind = 'campaign' and kind = '{DeedKind.GRANT}'
order by number
""")


class GrantTold(NamedTuple):
    """A deed that grants something: it waits, is done, or was refused with the reason."""

    key: str
    campaign: str
    version: int
    step: int
    member_id: str
    granted: str
    decided_at: datetime
    done_at: datetime | None
    refused_at: datetime | None
    reason: str | None

    @property
    def came(self) -> str:
        """What came of it."""
        if self.done_at is not None:
            return f"granted {self.done_at.isoformat()}"
        if self.refused_at is not None:
            return f"refused {self.refused_at.isoformat()}: {self.reason}"
        return "waits"


async def grants_under(pool: Pool, key: str) -> list[GrantTold]:
    """What a step grants, by the key of its effect, or of one of its deeds. Raises `Unavailable`."""
    effect, _, number = key.rpartition("/")
    step = effect if effect and number.isdecimal() else key
    found = []
    for row in await slices.rows(pool, _MEMBER(key=step.rpartition(":")[0])):
        member_id = row["member_id"]
        async with slices.at(pool, member_id) as connection:
            for own, campaign, version, at, whose, document, *times in await connection.fetch(
                *_GRANTS(member_id=member_id, key=step)
            ):
                granted = " ".join(f"the {what} {name}" for what, name in orjson.loads(document).items())
                found.append(GrantTold(own, campaign, version, at, whose, granted, *times))
    return [each for each in found if key in {step, each.key}]

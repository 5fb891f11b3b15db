"""The rows of `partner_award`: awards requested by partners, by the id that the partner knows."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.ids import award_id
from abacus.core.sources import partner_source
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, array, arrays, column, columns, unnested


class PartnerAward(NamedTuple):
    """One row. `queued_at` is there once the queue has the award; until `taken_until` a process is sending it. The
    points of a `provisional` award are computed anew before they are posted.
    """

    award_id: UUID
    partner_id: str
    key: str
    member_id: str
    program: str
    country: str
    points: int
    occurred_at: datetime
    expires_on: date
    activity: bool
    fingerprint: str
    explanation: bytes
    lifetime: bool
    provisional: bool
    asked_at: datetime
    queued_at: datetime | None
    taken_until: datetime | None

    @classmethod
    def of(
        cls,
        award_id: UUID,
        partner_id: str,
        award: Award,
        *,
        asked_at: datetime,
        provisional: bool = False,
        queued_at: datetime | None = None,
        taken_until: datetime | None = None,
    ) -> "PartnerAward":
        return cls(
            award_id=award_id,
            partner_id=partner_id,
            key=award.key,
            member_id=award.member_id,
            program=award.program,
            country=award.country,
            points=award.points,
            occurred_at=award.occurred_at,
            expires_on=award.expires_on,
            activity=award.activity,
            fingerprint=award.fingerprint,
            explanation=award.explanation,
            lifetime=award.lifetime,
            provisional=provisional,
            asked_at=asked_at,
            queued_at=queued_at,
            taken_until=taken_until,
        )

    @property
    def award(self) -> Award:
        return Award(
            key=self.key,
            member_id=self.member_id,
            program=self.program,
            country=self.country,
            kind=TransferKind.EARN,
            points=self.points,
            occurred_at=self.occurred_at,
            expires_on=self.expires_on,
            activity=self.activity,
            fingerprint=self.fingerprint,
            explanation=self.explanation,
            source=partner_source(self.partner_id),
            lifetime=self.lifetime,
        )


PARTNER_AWARD_COLUMNS: Final = columns(PartnerAward)
PARTNER_AWARD_ROWS: Final = unnested(PartnerAward, explanation="json")  # as `u`

_KNOWN: Final = Statement(f"select award_id from partner_award where award_id = any({array('ids', 'uuid')})")
_REGISTER: Final = Statement(f"""
insert into partner_award ({PARTNER_AWARD_COLUMNS})
select * from {PARTNER_AWARD_ROWS} order by award_id
on conflict do nothing
""")


async def register_missing(connection: Connection, partners: Mapping[str, Sequence[Award]], now: datetime) -> None:
    """An award that was accepted while the database was away may have no entry yet."""
    awards = {award_id(award.key): (partner_id, award) for partner_id, each in partners.items() for award in each}
    for row in await connection.fetch(*_KNOWN(ids=column(awards))):
        awards.pop(row["award_id"])
    if awards:
        unknown = [
            PartnerAward.of(id_, partner_id, award, asked_at=now, queued_at=now)
            for id_, (partner_id, award) in awards.items()
        ]
        await connection.execute(*_REGISTER(**arrays(PartnerAward, unknown)))

"""What partners asked for, beside the transfers that came of it."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.ids import PARTNERS, award_id
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns
from abacus.proof.decide.report import Report


class _Entry(NamedTuple):
    """The columns of `partner_award` that its transfer has, too."""

    key: str
    member_id: str
    program: str
    country: str
    points: int

    @classmethod
    def of(cls, transfer: Transfer) -> "_Entry":
        return cls(transfer.key, transfer.member_id, transfer.program, transfer.country, transfer.points)


_ENTRIES: Final = Statement(f"""
select award_id, {columns(_Entry)} from partner_award where award_id = any(:ids::uuid[])
""")


async def check_partner_awards(connection: Connection, transfers: Sequence[Transfer], report: Report) -> None:
    """Note the faults of the awards among these transfers: each was entered before it was posted, as it was posted."""
    awards = {
        award_id(each.key): each
        for each in transfers
        if each.kind == TransferKind.EARN and each.key.startswith(PARTNERS)
    }
    if not awards:
        return
    rows = await connection.fetch(*_ENTRIES(ids=list(awards)))
    entries: dict[UUID, _Entry] = {id_: _Entry(*entry) for id_, *entry in rows}
    for id_, transfer in awards.items():
        report.faults_of((transfer.member_id, transfer.program), transfer.seq, _faults(entries.get(id_), transfer))


def _faults(entry: _Entry | None, transfer: Transfer) -> list[str]:
    if entry is None:
        return ["what the partner asked for is not there"]
    posted = _Entry.of(transfer)
    return [
        f"the partner asked for it with the {name} {asked}, it has {has}"
        for name, asked, has in zip(_Entry._fields, entry, posted, strict=True)
        if asked != has
    ]

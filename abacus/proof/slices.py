"""The slices of a ledger that is cut: rows lie in the slices of their members, and keys are entered for these."""

from typing import Final

from abacus.core.ids import OF_THEIR_MEMBER
from abacus.platform.postgres import pages
from abacus.platform.sql import Statement
from abacus.proof.decide.report import MOST_FAULTS, Fault, Report
from abacus.proof.parts import Findings, Keys, Places
from abacus.proof.sight import Sight

# Keys that name their member are never used for another one, and need no entry.
_NEED_AN_ENTRY: Final = " and ".join(f"not starts_with(c.key, '{start}')" for start in OF_THEIR_MEMBER)

_ENTERED: Final = Statement("select key from key_slice where key = any(:keys::text[]) and slice = :number")


async def check_places(sight: Sight, part: Places) -> Findings:
    """A reader of all slices finds a row that lies elsewhere; posting does not."""
    findings, (number, table) = Findings(), part
    query = Statement(f"""
        select distinct member_id, abacus_slice_of(member_id, :slices) as slice from {table}
        where abacus_slice_of(member_id, :slices) <> :number limit {MOST_FAULTS}
    """)
    ledger = await sight.ledger(number)
    for member_id, belongs in await ledger.fetch(*query(slices=len(sight.slices), number=number)):
        detail = f"rows of {table} lie in slice {number}, and the member belongs to {belongs}"
        findings.report.note(Fault(member_id, "", 0, detail))
    return findings


async def check_entries(sight: Sight, part: Keys, claims: str, report: Report) -> None:
    """The key of each claim is in the register, for this slice; else another slice could use the key once more."""
    query = Statement(f"select c.key, c.member_id, c.program, c.seq {claims} and {_NEED_AN_ENTRY}")
    ledger, number = await sight.ledger(part.number), part.number
    async for page in pages(ledger, *query(**part.span.parameters)):
        entered = await sight.shared.fetch(*_ENTERED(keys=[row["key"] for row in page], number=number))
        missing = {row["key"] for row in page} - {row["key"] for row in entered}
        for key, member_id, program, seq in page:
            if key in missing:
                detail = f"its key {key} is not in the register of keys as one of slice {number}"
                report.note(Fault(member_id, program, seq, detail))

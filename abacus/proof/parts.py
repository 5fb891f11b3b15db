"""The parts into which the ledger is cut to be examined, slice by slice, and the findings in a part."""

from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple, TypeAlias

from abacus.core.ids import OF_THEIR_MEMBER
from abacus.platform.postgres import LONG_S, pages
from abacus.platform.sql import Statement
from abacus.proof.decide.counted import NOTHING, Counted
from abacus.proof.decide.report import MOST_FAULTS, Fault, Report
from abacus.proof.decide.seal import Seal, Sealed
from abacus.proof.sight import Sight


class Span(NamedTuple):
    """Members from one id to another, both included, in the order of the ids' bytes."""

    first: str = ""
    last: str | None = None  # nobody is the last

    def where(self, table: str) -> str:
        """SQL for a condition on the members; `parameters` has its values."""
        return f"{table}.member_id >= :first" + ("" if self.last is None else f" and {table}.member_id <= :last")

    @property
    def parameters(self) -> dict[str, str]:
        return {"first": self.first} if self.last is None else {"first": self.first, "last": self.last}


EVERYBODY: Final = Span()


class Members(NamedTuple):
    """The accounts of these members in a slice, and their transfers."""

    span: Span
    number: int


class Keys(NamedTuple):
    """The claims of these members that lie in these pages of a generation of a slice; `are_entered` in the register of
    keys, where there are several slices.
    """

    span: Span
    number: int
    generation: int
    first_page: int
    beyond: int
    are_entered: bool


class Generations(NamedTuple):
    """The keys of a slice over its generations."""

    number: int


class Places(NamedTuple):
    """The members in a table of a slice: all of them belong to it."""

    number: int
    table: str


class Root(NamedTuple):
    """The root of a seal over a slice, and what the seal has of it."""

    seal: Seal
    number: int
    sealed: Sealed


class Log(NamedTuple):
    """The entries of the log from one number on, and before another."""

    first: int
    beyond: int


class House(NamedTuple):
    """What is about no member: approvals, and cards, people and partners beside the log."""


Part: TypeAlias = Members | Keys | Generations | Places | Root | Log | House


@dataclass(slots=True)
class Findings:
    """The findings in a part. `keys` and `numbers` are counts and sums over transfers, less the claims' own; `used` has
    the points that count against each partner's limits, `used_on` the points of its last day and of later days.
    """

    report: Report = field(default_factory=Report)
    keys: int = 0
    numbers: int = 0
    used: dict[str, Counted] = field(default_factory=dict)
    used_on: dict[tuple[str, date], Counted] = field(default_factory=dict)

    @property
    def keys_match(self) -> bool:
        return self.keys == 0 and self.numbers % 2**64 == 0

    def add(self, part: "Findings") -> None:
        self.report.add(part.report)
        self.keys += part.keys
        self.numbers += part.numbers
        for partner_id, points in part.used.items():
            self.used[partner_id] = self.used.get(partner_id, NOTHING).plus(points)
        for day, points in part.used_on.items():
            self.used_on[day] = self.used_on.get(day, NOTHING).plus(points)


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


# Each generation has an index by key, and the database says that a key is unique in each. So keys come in order.
_TWICE: Final = f"""
select k.member_id, k.program, k.seq, k.key from (
    select c.*, lag(c.key) over (order by c.key) as before from claim c
) k
where k.key = k.before limit {MOST_FAULTS}
"""


async def check_generations(sight: Sight, part: Generations) -> Findings:
    """Whoever posts looks into earlier generations for its keys: two that have the same were posted without a look."""
    findings, ledger = Findings(), await sight.ledger(part.number)
    for member_id, program, seq, key in await ledger.fetch(_TWICE, timeout=LONG_S):
        findings.report.note(Fault(member_id, program, seq, f"its key {key} is claimed in two generations"))
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

"""The dimensions of a report besides the program. Pure: their names, and how SQL reads them from a transfer's row."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from abacus.core.sources import partner_sql, source_sql
from abacus.pricing.explanation.sql import factor


class By(StrEnum):
    """Country: the account's home. Tier: the tier that an award was calculated by. Source: where a transfer came
    from. Partner: the partner among the sources.
    """

    COUNTRY = "country"
    TIER = "tier"
    PARTNER = "partner"
    SOURCE = "source"


NOT_NAMED: Final = "-"  # where a transfer names none


def _with_captures(of_row: Callable[[str], str]) -> str:
    """What SQL reads from transfer `t`. A capture has its hold's id as its key: without a source of its own it has the
    source of the transfer that placed the hold.
    """
    return f"""coalesce({of_row("t")}, case when t.source is null and starts_with(t.key, 'capture:') then (
        select {of_row("placed")} from hold
        join transfer placed on placed.member_id = hold.member_id and placed.program = hold.program
            and placed.seq = hold.placed_seq
        where hold.member_id = t.member_id and hold.program = t.program and hold.settled_seq = t.seq
    ) end, '{NOT_NAMED}')"""


# Of a transfer `t` of an account `a`.
SQL: Final[Mapping[By, str]] = {
    By.COUNTRY: "a.country",
    By.TIER: f"case t.kind when 'earn' then coalesce({factor('tier')}, '{NOT_NAMED}') else '{NOT_NAMED}' end",
    By.PARTNER: _with_captures(partner_sql),
    By.SOURCE: _with_captures(source_sql),
}


class Part(NamedTuple):
    """A part of the books; a dimension that the report does not have is empty."""

    program: str
    country: str
    tier: str
    partner: str
    source: str


def columns(by: Collection[By]) -> str:
    """The parts as columns, one for each dimension. The country is always there, because the books tie by it."""
    return ", ".join(f"{SQL[each] if each in by or each is By.COUNTRY else repr(NOT_NAMED)} as {each}" for each in By)


def part_of(row: Sequence[object]) -> Part:
    """The part to which a row belongs that begins with its fields."""
    return Part(*map(str, row[: len(Part._fields)]))


def not_asked_for(by: Collection[By]) -> list[str]:
    return [str(each) for each in By if each not in by]


Row = TypeVar("Row", bound=tuple[object, ...])


def by_program_at_least(part: Part, by: Collection[By]) -> Part:
    """The part with the country left out where it was not asked for."""
    return part if By.COUNTRY in by else part._replace(country=NOT_NAMED)


def grouped(rows: Iterable[Row], key: Callable[[Row], Part]) -> dict[Part, list[Row]]:
    """In the order of the parts."""
    groups: dict[Part, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return dict(sorted(groups.items()))

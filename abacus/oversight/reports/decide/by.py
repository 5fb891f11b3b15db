"""The dimensions of a report besides the program. Pure: their names, and how SQL reads them from a transfer's row."""

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from abacus.core.sources import partner_sql
from abacus.pricing.explanation.sql import factor, text


class By(StrEnum):
    """Country: the account's home. Tier: the tier that an award was calculated by. Partner: the partner that
    requested it.
    """

    COUNTRY = "country"
    TIER = "tier"
    PARTNER = "partner"


NOT_NAMED: Final = "-"  # where a transfer names none

# Of a transfer `t` of an account `a`. A capture has its hold's key; one that was written without a source says in its
# explanation whose it is.
SQL: Final[Mapping[By, str]] = {
    By.COUNTRY: "a.country",
    By.TIER: f"case t.kind when 'earn' then coalesce({factor('tier')}, '{NOT_NAMED}') else '{NOT_NAMED}' end",
    By.PARTNER: f"coalesce({partner_sql('t')},"
    f" case when t.source is null and starts_with(t.key, 'capture:') then {text('spent_by')} end, '{NOT_NAMED}')",
}


class Part(NamedTuple):
    """A part of the books; a dimension that the report does not have is empty."""

    program: str
    country: str
    tier: str
    partner: str


def columns(by: Collection[By]) -> str:
    """The parts as columns `country`, `tier`, `partner`. The country is always there, because the books tie by it."""
    return ", ".join(f"{SQL[each] if each in by or each is By.COUNTRY else repr(NOT_NAMED)} as {each}" for each in By)


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

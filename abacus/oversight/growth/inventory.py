"""The inventory of tables: by what each grows, how long rows stay, and where they go.

A new table has to be entered here; a test goes through all tables and fails for a table that is not. The table in
docs/operate/growth.md is written from it.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from abacus.oversight.growth import engage_tables, house_tables, ledger_tables
from abacus.oversight.growth.types import Group, Growth

GROWTH: Final[Sequence[Growth]] = tuple(
    sorted(
        (*ledger_tables.GROWTH, *engage_tables.GROWTH, *house_tables.GROWTH),
        key=lambda each: [*Group].index(each.group),
    )
)
TABLES: Final[Sequence[str]] = tuple(chain.from_iterable(each.tables for each in GROWTH))
_GROUP_OF: Final[Mapping[str, Group]] = {table: each.group for each in GROWTH for table in each.tables}


def group_of(table: str) -> Group:
    return _GROUP_OF.get(table, Group.OTHERS)


def by_group(bytes_of: Mapping[str, int]) -> Mapping[Group, int]:
    """The bytes of each group."""
    sums = dict.fromkeys(Group, 0)
    for table, size in bytes_of.items():
        sums[group_of(table)] += size
    return sums

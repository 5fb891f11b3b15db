"""Every table says how long its rows stay, in the code and on the page; and what is swept is what the page says."""

from collections import Counter

import pytest

from abacus.cli.growth_page import PAGE, written
from abacus.oversight.growth.inventory import GROWTH, TABLES, by_group, group_of
from abacus.oversight.growth.ledger_tables import EVER
from abacus.oversight.growth.types import Group, Growth
from abacus.oversight.growth.wiring import lives_of
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.slices import CUT
from tests.support.paths import ROOT

_THERE = """
select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
    and not relispartition and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
"""


async def test_every_table_says_how_long_its_rows_stay(pool: Pool) -> None:
    there = {row["relname"] for row in await pool.fetch(_THERE)}
    assert sorted(there ^ set(TABLES)) == []
    assert [table for table, times in Counter(TABLES).items() if times > 1] == []


def test_the_page_has_the_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert written(page) == page, "run `python -m abacus.cli.growth_page`"


@pytest.mark.parametrize("growth", GROWTH, ids=lambda each: each.tables[0])
def test_a_row_of_the_table_can_be_read(growth: Growth) -> None:
    assert growth.group is not Group.OTHERS
    assert all(word and "|" not in word and not word.endswith(".") for word in (growth.by, growth.life, growth.goes))


def test_what_is_swept_is_cut_and_does_not_stay_for_ever() -> None:
    lives = {each.table for each in lives_of(Settings())}
    assert sorted(lives - {*CUT, "journey_trail"}) == []
    life_of = {table: each.life for each in GROWTH for table in each.tables}
    assert [table for table in lives if life_of[table] == EVER or "KEEP_DAYS" not in life_of[table]] == []


def test_the_page_says_the_times_of_the_settings() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name in ("engage_keep_days", "undelivered_keep_days", "replayed_keep_days", "notify_keep_days"):
        default = Settings.model_fields[name].default
        assert f"| `ABACUS_{name.upper()}` | {default}; at least" in text
        shown = [each.life for each in GROWTH if f"`ABACUS_{name.upper()}` (" in each.life]
        assert shown
        assert all(f"`ABACUS_{name.upper()}` ({default})" in each for each in shown)


def test_sizes_are_added_up_by_group() -> None:
    sums = by_group({"transfer": 5, "claim": 2, "seat": 3, "pg_stat_statements": 1})
    assert {group: size for group, size in sums.items() if size} == {
        Group.LEDGER: 7,
        Group.JOURNEYS: 3,
        Group.OTHERS: 1,
    }
    assert group_of("head") is Group.OTHERS

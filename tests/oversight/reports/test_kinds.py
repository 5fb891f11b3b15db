"""Every kind of transfer that moves points has a column in each report, and each column is one of the report."""

import pytest

from abacus.ledger.types.kinds import KINDS, Effect, TransferKind
from abacus.oversight.reports.decide.cohort import Cohort
from abacus.oversight.reports.decide.revenue import Activity
from abacus.oversight.reports.decide.rollforward import OF_KIND, SIGNS, Movement


def test_every_kind_that_moves_points_has_its_columns() -> None:
    assert OF_KIND.keys() == {kind for kind in TransferKind if KINDS[kind].points is not Effect.NONE}


@pytest.mark.parametrize("kind", OF_KIND)
def test_the_columns_are_those_of_the_reports(kind: TransferKind) -> None:
    columns = OF_KIND[kind]
    assert columns.sign == SIGNS[columns.moved]
    assert {columns.came, columns.went} - {None} <= set(Cohort._fields)
    assert {columns.came, columns.went} != {None}
    assert {columns.came_as, columns.went_as} <= set(Activity._fields)


def test_the_rollforward_has_a_sign_for_each_column_between_opening_and_closing() -> None:
    opening, closing = map(Movement._fields.index, ("opening", "closing"))
    assert tuple(SIGNS) == Movement._fields[opening + 1 : closing]

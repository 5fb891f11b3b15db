"""Each table that a deliverer works on."""

import pytest

from tests.support.delivery_tables import TABLES, Table


@pytest.fixture(params=TABLES.values(), ids=list(TABLES))
def table(request: pytest.FixtureRequest) -> Table:
    chosen: Table = request.param
    return chosen

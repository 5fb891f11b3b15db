"""An office for a month's end."""

import pytest

from abacus.platform.postgres import Pool
from tests.programs.expiry.office import Office


@pytest.fixture
def office(pool: Pool) -> Office:
    return Office(pool)

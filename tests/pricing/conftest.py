"""What holds for all tests of this folder."""

from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)  # they write to tables of the whole house, which no service changes

"""Run once: mutants have services of their own."""

from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)

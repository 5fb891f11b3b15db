"""Run once: no test here asks a service of production."""

from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)

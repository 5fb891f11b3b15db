"""Run once: services are simulated."""

from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)

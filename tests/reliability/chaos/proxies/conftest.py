"""Run once: a proxy is tried with servers of its own."""

from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)

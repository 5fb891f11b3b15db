"""The members of a small ledger, and a report as lines, for the tests that verify."""

import re

from abacus.proof.decide.report import Report
from tests.support.slices import SLICES

MEMBERS = ["adam", "bob", "eve"]


# Where the ledger is cut, a row that somebody made or renamed by hand also lies in a wrong slice, or has no entry.
# `tests/ledger/test_slices.py` has what is found of that alone.
_OF_SLICES = re.compile(r"rows of \w+ lie in slice|is not in the register of keys")


def lines(report: Report) -> list[str]:
    return [str(fault) for fault in report.faults if SLICES == 1 or not _OF_SLICES.search(str(fault))]

"""The members of a small ledger, and a report as lines, for the tests that verify."""

import re
from collections.abc import Iterable
from itertools import count

from abacus.platform.slices import SliceMap
from abacus.proof.decide.report import Report
from tests.support.slices import SLICES

MEMBERS = ["adam", "bob", "eve"]


# Where the ledger is cut, a row that somebody made or renamed by hand also lies in a wrong slice, or has no entry.
# `tests/ledger/slices/test_slices.py` has what is found of that alone.
_OF_SLICES = re.compile(r"rows of \w+ lie in slice|is not in the register of keys")


def lines(report: Report) -> list[str]:
    """Where the ledger is cut, one for each sort of fault of a seal, whose slices have it one by one."""
    if SLICES == 1:
        return [str(fault) for fault in report.faults]
    told = [str(fault) for fault in report.faults if not _OF_SLICES.search(str(fault))]
    return list({of_a_seal(line): line for line in told}.values())


def of_a_seal(line: str) -> str:
    """The beginning of the line about a seal; where the ledger is cut it names the slice, and its numbers are those."""
    return (
        line
        if SLICES == 1
        else re.sub(r"^(seal \d+: its (?:number of \w+|root))(?: of slice \d+)? is .*", r"\1 ", line)
    )


def in_its_slice(member: str, members: Iterable[str]) -> int:
    """The place of the member among those of its slice, in order."""
    slice_map = SliceMap(SLICES)
    return sorted(each for each in members if slice_map.slice_of(each) == slice_map.slice_of(member)).index(member)


def renamed(member: str) -> str:
    """Another name, of the same slice, that comes before others."""
    slice_map = SliceMap(SLICES)
    names = (f"cx{number}-{member}" for number in count())
    return next(each for each in names if slice_map.slice_of(each) == slice_map.slice_of(member))

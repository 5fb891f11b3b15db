"""The members of a small ledger, and a report as lines, for the tests that verify."""

from abacus.proof.decide.report import Report

MEMBERS = ["adam", "bob", "eve"]


def lines(report: Report) -> list[str]:
    return [str(fault) for fault in report.faults]

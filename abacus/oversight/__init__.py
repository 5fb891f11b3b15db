"""Oversight of the whole ledger: reconciliation, reports, backtests, erasure."""

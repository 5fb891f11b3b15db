"""Questions about the whole: reconciliation, reports, backtests, erasure."""

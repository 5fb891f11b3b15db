"""Accounting for every source message: what became of it, whether the sums come out, and what does not."""

"""Accounting for every source message: its verdict, whether the sums come out, and the findings if they do not."""

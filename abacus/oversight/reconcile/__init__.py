"""Accounting for every message: each of a window has one verdict, and each transfer has its source.

It reads topics and tables and takes nothing. The sums come out, or the findings say which message does not.
"""

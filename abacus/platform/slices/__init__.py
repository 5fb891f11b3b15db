"""The slices of a ledger: which members each has, where it lies, and reading and changing them.

A ledger that is not cut is read and changed by the same calls.
"""

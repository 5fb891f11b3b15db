"""Members as persons: where their data lies, and how it is erased.

A member's name becomes a pseudonym in one transaction of the tables' owner; every sum and every proof stays.
"""

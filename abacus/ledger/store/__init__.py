"""The ledger's tables, and the SQL that reads and writes them.

A batch is one transaction, or one of each slice. Locks are taken in one order: accounts, keys, new accounts, each
sorted. Only `rows.py` writes accounts, claims and transfers.
"""

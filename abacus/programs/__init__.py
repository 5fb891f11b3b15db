"""Programs of points, beside the ledger: tiers, expiry, opening balances.

Each follows from the ledger's transfers, or becomes transfers under keys of its own, and can be checked against them.
"""

"""Proving the ledger: hash chains, keys, explanations, seals, and proofs that others can check alone.

Verifying recomputes everything from the ledger's own rows in one snapshot, and names each fault. A seal is one hash
over all accounts, published; a proof leads from an account to it.
"""

"""Proving the ledger: hash chains, keys, explanations, seals, and proofs that others can check alone."""

"""The rules of a sound ledger, and the contents of seals and proofs. Pure."""

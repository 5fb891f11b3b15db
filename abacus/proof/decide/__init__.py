"""What a sound ledger looks like, and what a seal and a proof hold. Pure."""

"""The ledger's words: awards, movements, accounts, transfers, events. Pure values, no decisions."""

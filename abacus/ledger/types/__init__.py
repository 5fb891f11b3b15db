"""What the ledger speaks of: awards, movements, accounts, transfers, events. Pure values, no decisions."""

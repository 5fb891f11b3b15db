"""What a program of points keeps beside the ledger: tiers, expiry, opening balances."""

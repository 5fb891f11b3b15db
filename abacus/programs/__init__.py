"""Programs of points, beside the ledger: tiers, expiry, opening balances."""

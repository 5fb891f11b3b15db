"""How accounts change. Pure: `ledger/store` reads and writes."""

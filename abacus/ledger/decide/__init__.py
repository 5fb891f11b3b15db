"""How accounts change. Pure: what is read and what is written is the business of `ledger/store`."""

"""The ledger's tables and the SQL that reads and writes them."""

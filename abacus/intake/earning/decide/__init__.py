"""Reading a transaction, and what it is worth as an award. Pure."""

"""Rate cards, which one is in force, and what a transaction is worth under it. Pure."""

"""Lines of opening balances, and the rows that a batch of them writes. Pure."""

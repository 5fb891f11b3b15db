"""Lines of opening balances, and what a batch of them writes. Pure."""

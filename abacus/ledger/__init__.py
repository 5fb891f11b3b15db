"""The only memory: accounts, transfers, and the keys that were claimed for ever."""

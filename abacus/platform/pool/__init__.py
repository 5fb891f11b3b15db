"""Connections to the servers of a ledger: each is led to a slice, and waits for no server that is silent."""

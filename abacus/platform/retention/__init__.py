"""Rows whose time is over are deleted: a room says which of its rows those are, and one sweeper goes through them."""

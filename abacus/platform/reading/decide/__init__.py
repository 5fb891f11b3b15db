"""Decisions of reading: pure, with the time as a value."""

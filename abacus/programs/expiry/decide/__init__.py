"""Months, and the last days on which points are good. Pure."""

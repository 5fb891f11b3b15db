"""Months, and until when points are good. Pure."""

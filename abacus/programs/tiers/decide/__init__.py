"""Tiers: which points count, periods, and how an account's tier changes. Pure."""

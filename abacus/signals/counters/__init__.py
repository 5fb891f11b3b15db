"""Counters: how often something happened, for any key, in any range of time."""

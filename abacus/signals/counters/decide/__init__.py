"""Definitions, keys, slots, and what an event adds. Pure."""

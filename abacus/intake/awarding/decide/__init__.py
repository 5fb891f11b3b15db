"""Decisions about awards from the queue. Pure."""

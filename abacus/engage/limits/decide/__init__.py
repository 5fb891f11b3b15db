"""Decisions about shared limits: pure."""

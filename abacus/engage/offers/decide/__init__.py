"""Decisions about offers: pure."""

"""Decisions about categories: pure."""

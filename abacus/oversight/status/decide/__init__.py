"""Decisions about the state of things."""

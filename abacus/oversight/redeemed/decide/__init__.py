"""Decisions only: no database, no clock."""

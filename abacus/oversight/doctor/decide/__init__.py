"""Decisions about what Abacus stands on."""

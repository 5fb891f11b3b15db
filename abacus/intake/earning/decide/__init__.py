"""Reads a transaction and computes its award. Pure."""

"""Abacus issues loyalty points for completed transactions, exactly once, and can prove every point."""

__version__ = "0.1.0"

"""Oversight of the whole ledger: reconciliation, reports, closing a month, backtests, erasure, status.

Rooms here read what others wrote, and say whether it comes out. Only a close and an erasure write, each on a record.
"""

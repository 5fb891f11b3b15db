"""Offers: what a member saves on an item now, chosen by an index in memory, taken within exact limits.

An offer is a document with versions and a second person. `decide/` chooses; what is shown is not reserved.
"""

"""Journeys: many steps over many days for each member, from an entry over waits and branches to an exit.

A journey is a published document. Its decisions are pure: a walk goes from one wait to the next. Members who wait for
the same are a pack.
"""

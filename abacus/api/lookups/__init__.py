"""Lookups of counters over HTTP, on a port of their own: a lookup is answered or refused by itself.

Callers are let in as by the API; `routes` reads lookups and writes counts, `series_routes` has the charts, and
`abacus/signals/counters` counts.
"""

"""Single codes of offers: loaded or drawn into the pool of an offer, kept as keyed digests, each used once.

A code is taken by a reservation, and is taken as long as that is held or redeemed. Codes lie on one server,
reservations with their member: a reservation is made before it takes its code (docs/adr/0104).
"""

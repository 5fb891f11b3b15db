"""Notifications: members are told what became of their points and their tier.

An *event* of the points or tiers stream, or the daily job, gives a *notice*: one member is to be told of it. A notice
holds one piece of *news* in figures: points earned, points expired, points that will expire, another tier. Notices of a
member that come together become one *message*: their news, merged, under one id. A *notification* is that message on
its way over one *channel*; each is delivered, tried again, or *parked* for a person by itself.
"""

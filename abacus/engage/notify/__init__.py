"""Notifications: members are told of changes to their points and their tier.

An *event* of the points or tiers stream, or the daily job, makes a *notice*: one member is to be told of it. A notice
holds one piece of *news* in figures: points earned, points expired, points that will expire, another tier. Notices of a
member that come together become one *message*: their news, merged, under one id. A *notification* is that message for
one *channel*; each notification is delivered, tried again, or *parked* for a person by itself.
"""

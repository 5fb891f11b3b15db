"""Notifications: members are told of changes to their points and their tier.

An event makes a *notice*, which holds one piece of *news*. Notices of a member that come together become one
*message*. A *notification* is that message for one *channel*; each is delivered, tried again, or *parked* for a
person. A notice is entered once, however often its event is read.
"""

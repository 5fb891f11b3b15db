"""Rules: conditions on an event, written as JSON, typed against the event's source when they are published.

A rule is compiled once for all equal rules. What has to be looked up is looked up last, for many events at once.
"""

"""Rules: conditions on facts, such as an event, written as JSON, typed when they are published.

A rule is compiled once for all equal rules. What has to be looked up comes last, for many rules at once.
"""

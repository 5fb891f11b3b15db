"""What is known of members: events, rules, counters, segments, and the facts that rules look up. Nothing is done here.

Documents say what an event, a counter or a segment is; versions are never changed, and are in force within a second.
"""

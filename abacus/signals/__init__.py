"""What is known of members: events, rules over them, counters, and segments. Nothing is done here.

Documents say what an event, a counter or a segment is; versions are never changed, and are in force within a second.
"""

"""Rules: conditions on an event, written as JSON, typed against the event's source when they are published."""

"""Kafka: reading in batches, and publishing.

Offsets are committed after the handler has returned. Publishing keeps the order of a key, and returns when every
in-sync replica has the messages.
"""

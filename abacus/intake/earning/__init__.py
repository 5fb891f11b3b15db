"""A transaction becomes an award: read, priced by the card of its day and the member's tier, and put on the queue.

Each message ends in exactly one place: the award queue, the retry queue, the quarantine, or ignored and counted.
Offsets are committed after that.
"""

"""Following: leading work in one process at a time, walking and publishing rows in order, reading topics.

A follower returns when its effect is durable; then its offset or cursor moves. So the same event may come twice.
"""

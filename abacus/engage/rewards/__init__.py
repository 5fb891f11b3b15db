"""Rewards: what points buy. Points are held, stock or codes are taken, the hold is captured; what fails releases all.

A reward is a document with versions and a second person. Each redemption is a row with its stage, and every movement
of points has a key that follows from its id: a process that is killed leaves nothing half done.
"""

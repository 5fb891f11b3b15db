"""The quarantine: items that could not be processed, whole, with the reasons, and their replay.

An item is in it once, under one id, and is never deleted.
"""

"""Campaigns: if this happens to a member, and that holds, then it is done, once and within limits.

An event is decided for all campaigns in force in one transaction of each slice: claim, progress, limits and actions
together. Actions are done when they are due. `desk.py` is the door for people; `campaigner.py` listens.
"""

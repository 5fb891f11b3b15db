"""Members bring the balance that they had in another system.

A file is checked as a whole before its first line is posted. A line is an adjustment under a key of its own, posted
once.
"""

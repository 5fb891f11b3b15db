"""A month's books are closed: checked, written as files, and signed by a person, on a record that only grows.

Nothing is locked: a transfer belongs to the month of its posting, and never changes.
"""

"""Six months of a house, told by its doors: what happened comes in as it does in production, under a clock that walks.

A chapter tells what one capability did; `telling` walks from day to day, and the house settles before the clock moves.
"""

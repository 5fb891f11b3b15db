"""Words that every room shares: points, money, keys, time, errors. It needs the standard library only.

An error's class says what its catcher does: try again, set aside, refuse to the caller, or stop.
"""

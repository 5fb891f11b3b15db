"""Reading: how often something happened in a range of time, for up to a hundred keys at once.

A *lookup* names a key and a range. Its definition turns the range into *tiles*: whole days, hours and quarters. What
lateness can no longer change of a tile is its *closed part*, which may be kept; the rest is its *open end*, which is
always read. Lookups that come together are read in one *round*.
"""

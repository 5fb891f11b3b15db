"""Rate cards: the worth of a point in a place, since a time; and the explanation of points.

A version is never changed. The card in force is that of the transaction's day. The formula is exact and rounds once;
its explanation has every factor, so that anybody can recompute the points.
"""

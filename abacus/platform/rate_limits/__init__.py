"""Limits the requests of each id, exactly over all processes, without a write for each request.

A bucket for each id stands in Postgres. A process takes tokens out of it by the handful, lets requests pass for them,
and gives back unused tokens.
"""

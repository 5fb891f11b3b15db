"""The HTTP API for partners and people, and the probes and metrics of every worker.

A route reads one body, asks one room, and writes one answer; every failure is a problem document (RFC 9457). Routes
decide nothing: rights, limits and points are decided by the rooms below.
"""

"""Segments: named sets of members, in versions that are never changed.

A version is a bitmap of members' numbers; a look into it needs no database. An erased member is in none.
"""

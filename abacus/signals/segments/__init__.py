"""Segments: named sets of members, which campaigns ask for."""

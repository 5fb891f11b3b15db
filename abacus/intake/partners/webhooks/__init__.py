"""Webhooks: partners are told what became of their awards, as Standard Webhooks says."""

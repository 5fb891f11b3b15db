"""Webhooks: messages to partners about the outcome of their awards, by Standard Webhooks.

A message is entered before the stream's offset is committed, sent under one id, and tried for three days.
"""

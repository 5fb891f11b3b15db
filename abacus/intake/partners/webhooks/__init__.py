"""Webhooks: messages to partners about the outcome of their awards, by Standard Webhooks."""

"""SQS: envelopes, sending, and receiving with heartbeats.

A message stays ours while its work lasts, and is deleted after its effect is durable. A message that fails ten times
is a dead letter.
"""

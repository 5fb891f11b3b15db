"""SQS: envelopes, sending, and receiving with heartbeats."""

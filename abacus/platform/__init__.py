"""The platform: Postgres, Kafka, SQS, the quarantine, metrics, settings. It knows nothing of loyalty points.

A thing that is down raises `Unavailable` and is waited for; a right that is missing stops the worker. A port has one
contract suite, which runs on every adapter.
"""

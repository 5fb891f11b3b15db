"""Kafka: reading in batches, and publishing."""

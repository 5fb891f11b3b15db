"""The platform: Postgres, Kafka, SQS, the quarantine, metrics, settings. It knows nothing of loyalty points."""

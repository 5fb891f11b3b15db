"""Everything that reaches outside: Postgres, Kafka, SQS, what was set aside, metrics, settings. No loyalty points."""

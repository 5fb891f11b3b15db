"""The state of everything at once: processes, streams, queues, the relay, items set aside, jobs."""

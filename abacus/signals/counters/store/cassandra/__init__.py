"""Counters in Cassandra. Its driver comes with the extra `cassandra`, and is imported when this store is opened."""

"""The rows of counters: one port, two stores."""

"""Actions that are due at a time: they wait in Postgres, their guards are looked at, and their receivers get them.

Any number of processes share the work. An action that was handed over twice, because a process died, has the same key.
"""

"""The servers of a Citus under a ledger in slices: prepared for slices, which are placed on them and moved."""

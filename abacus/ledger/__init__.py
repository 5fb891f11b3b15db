"""The only memory: accounts, transfers, and the keys that were claimed for ever.

A key is posted once. A transfer is never changed. An account's transfers are numbered without a gap and chained by
hash; its balance is the sum of them. Decisions are in `decide/`, statements in `store/`; `relay/` publishes.
"""

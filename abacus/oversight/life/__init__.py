"""The life of a member, in one answer: points with their days and reasons, tiers, transfers, messages, campaigns and
approvals. Each part is read by itself; a part whose dependency is away says so, and the others are there. The console
and `abacus members show --all` ask here.
"""

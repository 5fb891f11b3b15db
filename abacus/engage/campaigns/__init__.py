"""Campaigns: if this happens to a member, and that holds, then it is done, once and within limits."""

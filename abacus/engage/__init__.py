"""What is done for members when something happens: campaigns, within limits, and the messages and calls that follow.

Every effect has a key and happens at most once. Rooms here know the ledger's types and the award queue, never its SQL.
"""

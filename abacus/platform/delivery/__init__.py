"""Delivery of messages that wait in a table until they are due, to receivers outside of this process.

A deliverer is an `OutboxTable`, an attempt and a `Schedule`. A *claim* is a delivery that one process has for a while;
an *answer* is the receiver's reply to one attempt; a *verdict* is our decision after it, which *settling* stores.
"""

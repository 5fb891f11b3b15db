"""Delivery of messages that wait in a table until they are due, to receivers outside of this process.

A new deliverer is its own table and statements (`deliverer.Deliveries`), one function that attempts a delivery, and a
`Schedule`. A *claim* is a delivery that one process has taken for a while (its lease); an *answer* is the receiver's
reply to one attempt; a *verdict* is our decision after it; *settling* is writing the verdict down.
"""

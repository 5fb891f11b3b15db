"""Delivery: whatever waits in a table until it is due, and has to reach a receiver outside of this process.

A new deliverer is its own table and statements (`deliverer.Deliveries`), one function that attempts a delivery, and a
`Schedule`. A *claim* is a delivery that one process has taken for a while (its lease); an *answer* is what the receiver
said to one attempt; a *verdict* is what follows from it; *settling* is writing the verdict down.
"""

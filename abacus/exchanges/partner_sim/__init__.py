"""A reference partner: a server that keeps the contract, with a ledger of its own, and misbehaves on request.

It knows of the house what a partner knows: the contract, and the routes for what comes in.
"""

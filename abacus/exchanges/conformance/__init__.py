"""Plays cases against a partner's server, and reports which parts of the contract it keeps.

docs/partners/exchange-contract.yaml is the contract. The kit knows of the server what the house knows: its answers. It
credits points to test accounts, so it belongs in front of a partner's test system.
"""

"""The relay reads transfers out of the ledger and publishes them on the points stream.

Each transfer is published at least once, in the order of its account. The cursor moves after the broker has it.
"""

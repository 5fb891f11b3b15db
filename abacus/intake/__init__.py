"""Points enter here: transactions from the stream, awards from the queue, requests of partners.

A transaction is priced in `earning/` and becomes an award on the award queue. `awarding/` posts what the queue brings.
Partners ask in `partners/`. Nothing else adds points, but for a person's own movements.
"""

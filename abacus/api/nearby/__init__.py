"""What is near a point, over HTTP, on a port of its own, so that it scales alone.

`asked` reads the query, strictly; `told` writes what is answered, and `routes` lets in who may ask. Where things are
and what is on offer there is told by `abacus/engage/nearby`.
"""

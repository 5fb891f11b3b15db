"""Offers over HTTP, on a port of their own, so that they scale alone.

`asked` reads what is asked, `told` writes what is answered, and `routes` lets in who may ask. The choice is made by
`abacus/engage/offers`.
"""

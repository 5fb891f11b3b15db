"""What is signed of a request to a partner: also its method and its path, so that no signature serves another route.

The body of such a signature, by Standard Webhooks, is `METHOD path` with the query, a line feed, and the body as sent.
Callbacks are signed as Standard Webhooks says, over the body alone. Pure.
"""


def signed_part(method: str, path: str, body: bytes) -> bytes:
    return b"%b %b\n%b" % (method.encode(), path.encode(), body)

"""The limits of the HTTP server. Pure."""

from typing import NamedTuple


class HttpLimits(NamedTuple):
    """What one caller, and all of them together, may take of the server. A time or a number of connections that is 0 is
    not limited.
    """

    head_bytes: int = 16 * 1024  # of the request line and the headers
    headers: int = 100
    head_s: float = 10  # from the connection, or the first byte of a later request, to the end of the head
    body_s: float = 30  # from the head to the end of the body; for the caller to read the answer as well
    idle_s: float = 75  # between requests; longer than the minute for which load balancers keep a connection
    connections: int = 1000
    connections_per_address: int = 200
    pipelined: int = 16  # requests that may wait behind the request that is answered
    framing_bytes: int = 64 * 1024  # of chunks and their extensions, beyond the body's own
    discarded_bytes: int = 8 * 1024 * 1024  # of a body, answered or not

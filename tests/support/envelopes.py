"""The awards in the body of a message on the award queue, compressed or not, as other programs see them."""

from typing import Any

import orjson

from abacus.platform.sqs.compressed_envelope import seen_through


def awards_in(body: str) -> list[dict[str, Any]]:
    awards: list[dict[str, Any]] = orjson.loads(seen_through(body.encode()))["awards"]
    return awards

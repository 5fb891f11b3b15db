"""The idempotency key of a request, as its header or an item of a batch names it."""

import re
from typing import Final

from fastapi import Request

from abacus.api.api_problem import ApiProblem
from abacus.core.ids import IDEMPOTENCY_KEY_PATTERN

IDEMPOTENCY_KEY_HEADER: Final = "Idempotency-Key"
_IDEMPOTENCY_KEY: Final = re.compile(IDEMPOTENCY_KEY_PATTERN)


def is_idempotency_key(text: str) -> bool:
    return _IDEMPOTENCY_KEY.fullmatch(text) is not None


def idempotency_key_of(request: Request) -> str:
    """Raises `ApiProblem` when the header is missing or is no such key."""
    key = request.headers.get(IDEMPOTENCY_KEY_HEADER, "")
    if not is_idempotency_key(key):
        raise ApiProblem("idempotency-key-missing")
    return key

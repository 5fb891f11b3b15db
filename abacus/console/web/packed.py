"""Values as text for addresses and cookies, and back."""

import base64
import json
from typing import Any


def packed(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def unpacked(text: str) -> Any:
    """Raises `ValueError` for a text that `packed` did not make."""
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))

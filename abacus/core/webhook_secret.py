"""The secret of Standard Webhooks that two houses share."""

import base64
from typing import Final

PREFIX: Final = "whsec_"
_BYTES: Final = range(24, 65)  # as the standard asks


def is_webhook_secret(text: str) -> bool:
    """Whether it is `whsec_` and as many bytes, in base64, as the standard asks for."""
    try:
        length = len(base64.b64decode(text.removeprefix(PREFIX), validate=True))
    except ValueError:
        return False
    return text.startswith(PREFIX) and length in _BYTES

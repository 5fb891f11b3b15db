"""The secret that the house shares with a partner, as an option."""

from typing import Annotated

import typer

from abacus.core.errors import Refused
from abacus.core.webhook_secret import is_webhook_secret

Key = Annotated[str, typer.Option(help="The secret of both sides, whsec_…: it signs requests and callbacks.")]


def checked_key(key: str) -> str:
    """Raises `Refused`."""
    if not is_webhook_secret(key):
        raise Refused("--key: whsec_ and 24 to 64 bytes in base64 are needed")
    return key

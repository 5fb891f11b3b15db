"""Where the secrets of downstreams are stored."""

from typing import Final

from abacus.platform.encryption import Place
from abacus.platform.rewrapping import SecretColumn


def secret_of(name: str) -> Place:
    return Place("downstream_secret", "secret", name)


def former_secret_of(name: str) -> Place:
    return Place("downstream_secret", "former_secret", name)


SECRET_COLUMNS: Final = tuple(SecretColumn(place, "name") for place in (secret_of, former_secret_of))

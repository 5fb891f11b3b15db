"""Where the secrets of downstreams are stored."""

from typing import Final

from abacus.platform.encryption import SecretPlace
from abacus.platform.secret_rotation import SecretColumn


def secret_of(name: str) -> SecretPlace:
    return SecretPlace("downstream_secret", "secret", name)


def former_secret_of(name: str) -> SecretPlace:
    return SecretPlace("downstream_secret", "former_secret", name)


SECRET_COLUMNS: Final = tuple(SecretColumn(place, "name") for place in (secret_of, former_secret_of))

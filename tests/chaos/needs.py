"""What of a proving ground is built otherwise for a fault."""

from enum import StrEnum


class Need(StrEnum):
    """A ground has what its fault needs, and nothing else in between."""

    PROXIES = "proxies in front of SQS and Postgres"
    SMALL_DISK = "a Postgres of its own on a small disk"
    WRONG_CLOCKS = "workers whose clocks are wrong"


class CannotBeHad(Exception):
    """Not on this machine; the message says what is missing."""

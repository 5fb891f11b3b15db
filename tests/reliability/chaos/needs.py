"""The parts of a proving ground that are built differently for a fault."""

from enum import StrEnum


class Need(StrEnum):
    """A ground has the parts that its fault needs, and no others."""

    PROXIES = "proxies in front of SQS and Postgres"
    SMALL_DISK = "a Postgres of its own on a small disk"
    SERVERS = "a ledger in slices on the servers of a Citus"
    WRONG_CLOCKS = "workers whose clocks are wrong"


class CannotBeHad(Exception):
    """The machine cannot have the fault; the message says why."""

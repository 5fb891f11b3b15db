"""Accounts at partners that are only played, and that are not like others. Every other number is open, under any name.
Pure.
"""

from collections.abc import Mapping
from typing import Final

from abacus.exchanges.types import Match

CLOSED: Final = "000000001"
UNKNOWN: Final = "000000002"
NEAR: Final = "000000003"  # its holder has nearly the name that is given
OTHER_NAME: Final = "000000004"
CAPPED: Final = "000000005"
NOT_ELIGIBLE: Final = "000000006"

# The contract's types of refusals of transfers, and what is said of accounts.
REFUSED: Final[Mapping[str, str]] = {
    CLOSED: "account-closed",
    UNKNOWN: "account-unknown",
    OTHER_NAME: "name-mismatch",
    CAPPED: "cap-reached",
    NOT_ELIGIBLE: "not-eligible",
}
MATCHES: Final[Mapping[str, Match]] = {
    CLOSED: Match.CLOSED,
    UNKNOWN: Match.NONE,
    OTHER_NAME: Match.NONE,
    NEAR: Match.NEAR,
}

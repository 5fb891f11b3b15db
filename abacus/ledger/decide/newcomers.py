"""Whether an account may be opened for a member whom nobody knows. Pure."""

from collections.abc import Container
from typing import Final

from abacus.core.errors import Reason, SetAside
from abacus.core.members import fault_of_new_member

NOBODY_REFUSED: Final[frozenset[str]] = frozenset()


def check_newcomer(member_id: str, refused: Container[str]) -> None:
    """`refused` are the ids without an account that no new member may have. Raises `SetAside`."""
    if member_id in refused:
        raise SetAside(Reason.INVALID, f"member_id: {fault_of_new_member(member_id)}")

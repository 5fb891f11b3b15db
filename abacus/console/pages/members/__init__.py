"""The pages of members."""

from typing import Final

from abacus.console.pages.members import erasures, member, member_moves

SERVED: Final = (*member.SERVED, *member_moves.SERVED, *erasures.SERVED)

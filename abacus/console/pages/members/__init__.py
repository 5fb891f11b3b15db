"""The pages of members."""

from typing import Final

from abacus.console.pages.members import erasures, member, member_moves
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/members", member.members),
    page("/members/{member:path}", member.member),
    form("/members/{member:path}/adjust", member_moves.adjust, Deed.ADJUST),
    form("/members/{member:path}/hold", member_moves.hold, Deed.MOVE_POINTS),
    form("/members/{member:path}/release", member_moves.release, Deed.MOVE_POINTS),
    form("/members/{member:path}/reverse", member_moves.reverse, Deed.REVERSE),
    page("/erasures", erasures.listed, everywhere=True),
    form("/members/{member:path}/erase", erasures.erase, Deed.ERASE, everywhere=True),
)

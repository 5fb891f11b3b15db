"""The pages of members. A deed takes its place in `ACTS`."""

from typing import Final

from abacus.console.pages.members import erasures, member
from abacus.console.pages.members.acts import ACTS
from abacus.console.pages.members.member_act import served
from abacus.console.web.routes import page

SERVED: Final = (
    page("/members", member.members),
    page("/members/{member:path}", member.member),
    *(each for act in ACTS for each in served(act)),
    page("/erasures", erasures.listed, everywhere=True),
)

"""What the pages of programmes say of their own."""

from typing import Final

from abacus.console.pages.stated.stated_pages import StatedPages
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.kind import PROGRAMMES

PAGES: Final = StatedPages(
    kind=PROGRAMMES,
    desk=ProgrammeDesk,
    title="Exchange programmes",
    about="Points become points of a partner, and the other way round.",
    told={
        "partner": lambda programme: programme.partner,
        "exchanges": lambda programme: " and ".join(programme.directions),
    },
)

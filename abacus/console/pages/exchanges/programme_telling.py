"""How the approval of a programme is told."""

from typing import Final

from abacus.console.pages.approvals.stated_telling import StatedTelling
from abacus.console.pages.exchanges.programme_draft import PROGRAMME_DRAFTS
from abacus.exchanges.decide.programme_form import PROGRAMME_FORM
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.kind import PROGRAMMES

_WHY: Final = (
    "A programme says what points are worth at a partner and what the house pays for them, so another person looks at"
    " exactly this version before anybody exchanges by it."
)

PROGRAMME: Final = StatedTelling(PROGRAMMES, PROGRAMME_FORM, ProgrammeDesk, why=_WHY, drafts=PROGRAMME_DRAFTS).telling()

"""The first page shows the cards of all capabilities. The cards of the person's role come first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.approvals import home_card as approvals
from abacus.console.pages.campaigns import home_card as campaigns
from abacus.console.pages.drafts import home_card as drafts
from abacus.console.pages.exchanges import home_card as exchanges
from abacus.console.pages.finance import home_card as finance
from abacus.console.pages.home import changes, points
from abacus.console.pages.members import home_card as members
from abacus.console.pages.operations import home_cards as operations
from abacus.console.pages.search import home_card as search
from abacus.console.web.calls import Call
from abacus.console.web.home_card import CardShown, HomeCard
from abacus.console.web.page import Page

# A capability with a card takes its place here.
CARDS: Final[Sequence[HomeCard]] = (
    *approvals.CARDS,
    members.CARD,
    campaigns.CARD,
    drafts.CARD,
    finance.CARD,
    exchanges.CARD,
    points.CARD,
    *operations.CARDS,
    *changes.CARDS,
    search.CARD,
)


@dataclass(frozen=True, kw_only=True)
class Home(Page):
    """The cards that the person may see and that have something to say. `waits`: what waits for the person."""

    template: ClassVar[str] = "home.html"
    waits: Sequence[str]
    cards: Sequence[CardShown]


async def home(call: Call) -> Home:
    wanted = sorted((each for each in CARDS if each.is_for(call)), key=lambda each: each.rank(call))
    parts = await asyncio.gather(*(call.part(each.read(call)) for each in wanted))
    known = [(card, part.value) for card, part in zip(wanted, parts, strict=True) if part.value is not None]
    return Home(
        title="Home",
        command="abacus status",
        waits=[clause for card, value in known if (clause := card.waits(value)) is not None],
        cards=[
            CardShown(card.name, card.title, card.template, part)
            for card, part in zip(wanted, parts, strict=True)
            if part.value is not None or part.down is not None
        ],
    )

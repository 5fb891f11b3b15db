"""The finders of every room, and asking all of them at once, each for a short while."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.console.pages.approvals.approval_finder import APPROVALS
from abacus.console.pages.campaigns.campaign_pages import PAGES as CAMPAIGN_PAGES
from abacus.console.pages.categories.category_finder import CATEGORY_FINDER
from abacus.console.pages.contact.contact_policies import CONTACT_REGISTER
from abacus.console.pages.counters.counter_finder import COUNTERS
from abacus.console.pages.downstreams.downstreams import DOWNSTREAM_REGISTER
from abacus.console.pages.drafts.register import Register
from abacus.console.pages.events.sources import SOURCE_REGISTER
from abacus.console.pages.exchanges.exchange_finder import EXCHANGES
from abacus.console.pages.exchanges.programme_pages import PAGES as PROGRAMME_PAGES
from abacus.console.pages.journeys.journey_pages import PAGES as JOURNEY_PAGES
from abacus.console.pages.members.member_finder import MEMBERS, TRANSFERS
from abacus.console.pages.offers.offer_pages import PAGES as OFFER_PAGES
from abacus.console.pages.partners.partner_finder import PARTNERS
from abacus.console.pages.people.person_finder import PEOPLE
from abacus.console.pages.places.maps import MAP_REGISTER
from abacus.console.pages.rates.card_finder import CARDS
from abacus.console.pages.redemptions.redemption_finder import REDEMPTIONS
from abacus.console.pages.rewards.reward_pages import PAGES as REWARD_PAGES
from abacus.console.pages.search.finder import Finder, Found, document_finder
from abacus.console.pages.segments.segment_finder import SEGMENTS
from abacus.console.pages.stated.stated_finder import stated_finder
from abacus.console.web.calls import Call
from abacus.console.web.parts import Part
from abacus.core.errors import Unavailable


def _in(register: Register[Any, Any]) -> Finder:
    return document_finder(register.title, register.drafts.kind, lambda call: register.drafts.desk(call.rooms))


# A capability with things that people look for takes its place here.
FINDERS: Final = (
    MEMBERS,
    TRANSFERS,
    stated_finder(CAMPAIGN_PAGES),
    stated_finder(JOURNEY_PAGES),
    stated_finder(OFFER_PAGES),
    stated_finder(REWARD_PAGES),
    stated_finder(PROGRAMME_PAGES),
    CATEGORY_FINDER,
    REDEMPTIONS,
    EXCHANGES,
    APPROVALS,
    PARTNERS,
    CARDS,
    COUNTERS,
    _in(CONTACT_REGISTER),
    _in(MAP_REGISTER),
    _in(SOURCE_REGISTER),
    _in(DOWNSTREAM_REGISTER),
    PEOPLE,
    SEGMENTS,
)
_WITHIN_S: Final = 1.0


@dataclass(frozen=True)
class FoundGroup:
    """What one finder found."""

    noun: str
    found: Part[Sequence[Found]]


async def found(
    call: Call, text: str, most: int, finders: Sequence[Finder] = FINDERS, within_s: float = _WITHIN_S
) -> Sequence[FoundGroup]:
    """In the order of the finders, as far as they are open to the person and found something, or did not answer."""
    asked = [each for each in finders if each.is_open_to(call)]
    parts = await asyncio.gather(*(call.part(_soon(call, each, text, most, within_s)) for each in asked))
    groups = [FoundGroup(each.noun, part) for each, part in zip(asked, parts, strict=True)]
    return [each for each in groups if each.found.down is not None or each.found.value]


async def _soon(call: Call, finder: Finder, text: str, most: int, within_s: float) -> Sequence[Found]:
    try:
        async with asyncio.timeout(within_s):
            return await finder.find(call, text, most)
    except TimeoutError:
        raise Unavailable(f"search of {finder.noun.lower()}", f"no answer within {within_s:g} s") from None

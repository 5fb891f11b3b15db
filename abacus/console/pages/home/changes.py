"""On the first page: what others have done since the person was here, and the first steps of a fresh house."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.decide.deeds import Change, approvals_in, changes_of
from abacus.console.entry.desk import PeopleDesk
from abacus.console.pages.approvals.approval_titles import approval_titles
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.core.errors import Unavailable
from abacus.intake.partners.store import PartnerStore
from abacus.intake.pulse.store import PulseStore
from abacus.people.store.audit import log
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader

_MOST: Final = 5
_LOOKED_AT: Final = 200


@dataclass(frozen=True)
class Changes:
    """The newest of them, and how many more there are. `is_visit`: since the last visit; or else since midnight."""

    since: datetime
    is_visit: bool
    first: Sequence[Change]
    more: int


@dataclass(frozen=True)
class FirstStep:
    """What a fresh house needs, and the page where it is done."""

    words: str
    path: str
    is_done: bool


async def _changes(call: Call) -> Changes:
    visit = await call.premises.sessions.last_visit(call.session)
    midnight = call.now.astimezone(ZoneInfo(call.session.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    hidden = [Deed.SIGN_IN, *(() if call.may(Deed.MANAGE_PEOPLE, None) else (Deed.MANAGE_PEOPLE,))]
    entries = await log(
        call.reading.pool,
        since=visit or midnight,
        countries=call.countries(Deed.SEE),
        without=hidden,
        limit=_LOOKED_AT,
    )
    found = changes_of(entries, call.actor.source, await approval_titles(call, approvals_in(entries)))
    return Changes(visit or midnight, visit is not None, found[:_MOST], max(0, len(found) - _MOST))


async def _first_steps(call: Call) -> Sequence[FirstStep] | None:
    """Nothing once points have come, or every step is done."""
    if await PulseStore(call.reading.pool).last() is not None:
        return None
    steps = []
    if call.may(Deed.MANAGE_PEOPLE, None):
        steps.append(FirstStep("Let people in, and say what they may do", "/people", await _has_others(call)))
    if call.may_somewhere(Deed.EDIT_RATES):
        words = "Say what a point is worth: draft a rate card, which another person approves"
        steps.append(FirstStep(words, "/rates", _has_cards(call)))
    if call.may(Deed.EDIT_PARTNERS, None):
        known = bool(await call.rooms[PartnerStore].all())
        steps.append(FirstStep("Let transactions come: enter a partner, or send them to Kafka", "/partners", known))
    return steps if any(not each.is_done for each in steps) else None


async def _has_others(call: Call) -> bool:
    people = [each.person for each in await call.rooms[PeopleDesk].all()]
    return any(each.person_id != call.actor.name and each.disabled_at is None for each in people)


def _has_cards(call: Call) -> bool:
    try:
        return len(call.rooms[CardReader].book()) > 0
    except Unavailable:
        return True


CARDS: Final = (
    HomeCard("first-steps", "First steps", "home/first_steps.html", _first_steps, usual=-1),
    HomeCard("changes", "Since you were here", "home/changes.html", _changes, usual=60),
)

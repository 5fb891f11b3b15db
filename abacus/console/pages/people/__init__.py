"""The pages of people: their roles and sessions, and the log of what was done."""

from typing import Final

from abacus.console.pages.people import log, own_sessions, people
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/me", own_sessions.own_sessions),
    form("/me/sessions/end", own_sessions.end),
    form("/me/zone", own_sessions.choose_zone, shows=own_sessions.own_sessions),
    page("/people", people.people, Deed.MANAGE_PEOPLE, everywhere=True),
    page("/people/{person}", people.person, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/roles", people.give_roles, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/disable", people.disable, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/enable", people.enable, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/end-sessions", people.end_sessions, Deed.MANAGE_PEOPLE, everywhere=True),
    page("/log", log.log, Deed.MANAGE_PEOPLE, everywhere=True),
)

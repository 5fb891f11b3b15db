"""The pages of people: who is there, with which roles, sessions and ways in, and the log of what was done."""

from functools import partial
from typing import Final

from abacus.console.pages.forms.form_page import form_pages
from abacus.console.pages.people import log, own_sessions, people, person_forms
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

_PEOPLE: Final = Deed.MANAGE_PEOPLE
_act = partial(form, deed=_PEOPLE, everywhere=True, shows=people.person)

SERVED: Final = (
    page("/me", own_sessions.own_sessions),
    form("/me/sessions/end", own_sessions.end),
    form("/me/zone", own_sessions.choose_zone, shows=own_sessions.own_sessions),
    page("/people", people.people, _PEOPLE, everywhere=True),
    *form_pages("/people-enter", _PEOPLE, person_forms.entering),
    page("/people/{person}", people.person, _PEOPLE, everywhere=True),
    *form_pages("/people/{person}/roles", _PEOPLE, person_forms.roles),
    *form_pages("/people/{person}/way-in", _PEOPLE, person_forms.way_in),
    *form_pages("/people/{person}/disable", _PEOPLE, person_forms.end),
    _act("/people/{person}/enable", people.enable),
    _act("/people/{person}/remove-authenticator", people.remove_authenticator),
    _act("/people/{person}/end-sessions", people.end_sessions),
    page("/log", log.log, _PEOPLE, everywhere=True),
)

"""A request of a person who is in: who it is, what it may do, and the rooms that it may ask."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

from starlette.requests import Request

from abacus.console.entry.decide.browser import Use, derived, fits
from abacus.console.entry.types import Session
from abacus.console.premises import Premises
from abacus.console.read_side import ReadSide
from abacus.console.web.cookies import Cookies
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import CONTROL, EMPTY, FORM_TOKEN, Form, WrongForm, once, read_form
from abacus.console.web.parts import Down, Part
from abacus.console.web.seen import Seen
from abacus.core.errors import Refused, Unavailable
from abacus.oversight.life.member_life import Away
from abacus.people.decide.rights import check, countries_of, may, may_somewhere
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also
from abacus.platform.rooms import Rooms

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True)
class Call:
    """One request. `form` is what was sent, already checked to come from a page of this session."""

    request: Request
    premises: Premises
    actor: Actor
    session: Session
    token: str
    form: Form = EMPTY
    has_changed: bool = False  # something, a moment ago or just now
    seen: Sequence[Seen] = ()  # things that the person looked at of late, the newest first

    @property
    def form_token(self) -> str:
        """What each form of this session carries."""
        return derived(self.token, Use.FORM)

    @property
    def rooms(self) -> Rooms:
        return self.premises.rooms

    @property
    def now(self) -> datetime:
        return self.premises.clock.now()

    @property
    def reading(self) -> ReadSide:
        """What the page is read from: a replica, where there is one and the caller has not just changed something."""
        replica = self.premises.replica
        return (replica.reading if replica is not None and not self.has_changed else None) or self.premises.here

    def asked(self, name: str) -> str | None:
        """A parameter of the address; None where it is empty."""
        return CONTROL.sub("", self.request.query_params.get(name, "")).strip() or None

    def given(self, name: str) -> str | None:
        """A field of the form that was sent, or else a parameter of the address."""
        return self.form.get(name) or self.asked(name)

    def chosen(self, name: str, among: type[Choice]) -> Choice | None:
        """The value of these that is given. Raises `PageFault` for any other."""
        text = self.given(name)
        if text is not None and text not in set(among):
            raise PageFault("not-found", f"There is no such {name}.")
        return among(text) if text is not None else None

    def narrowed(self, *names: str) -> Form:
        """What the address narrows the page to, by its parameters that are not empty."""
        return Form({name: value for name in names if (value := self.asked(name)) is not None})

    def wrong(self, fault: str | None = None, **fields: str) -> WrongForm:
        """To be raised: what was sent, with what is wrong with its fields or as a whole."""
        return WrongForm(self.form.shown().but(**fields), fault)

    def next_page(self, after: str) -> str:
        """The address of the next page of a list, narrowed as this one is."""
        return f"{self.request.url.path}?{urlencode({**self.request.query_params, 'after': after})}"

    def may(self, deed: Deed, country: str | None) -> bool:
        return may(self.actor, deed, country)

    def may_somewhere(self, deed: Deed) -> bool:
        return may_somewhere(self.actor, deed)

    def is_open(self, deed: Deed, *, everywhere: bool) -> bool:
        """Whether something is, that is for people who may do the deed in some country, or everywhere."""
        return self.may(deed, None) if everywhere else self.may_somewhere(deed)

    def countries(self, deed: Deed) -> tuple[str, ...] | None:
        """Where the person may do it; None: everywhere."""
        return countries_of(self.actor, deed)

    def check(self, deed: Deed, country: str | None) -> None:
        """Raises `PageFault` where the person may not do it."""
        try:
            check(self.actor, deed, country)
        except Refused as fault:
            raise PageFault("role-needed", f"{fault}.") from None

    async def still_may(self, deed: Deed) -> bool:
        """For an answer that goes on: whether the session holds, and the person may do it somewhere by now."""
        session = await self.premises.sessions.find(self.token, is_use=False)
        actor = await self.premises.door.actor(self.session.person_id) if session is not None else None
        return actor is not None and countries_of(actor, deed) != ()

    def told(self, deed: Deed, subject: str, *, country: str | None = None, **details: object) -> Also:
        """The entry of the log, for the transaction of the deed."""
        return noted(entry_of(self.actor.source, deed, subject, self.now, country=country, **details))

    def once(self, also: Also) -> Also:
        """`also`, if the form has not taken effect before."""
        return once(self.form, self.actor.name, self.premises.clock, also)

    def told_part(self, value: Value | Away) -> Part[Value]:
        """A part that was read by itself elsewhere."""
        if not isinstance(value, Away):
            return Part(value)
        return Part(None, Down(value.dependency, self.premises.outages.failed(value.dependency), value.detail))

    async def part(self, loading: Awaitable[Value]) -> Part[Value]:
        """A part of the page that fails by itself."""
        try:
            return Part(await loading)
        except Unavailable as error:
            return Part(None, Down(error.dependency, self.premises.outages.failed(error.dependency), error.detail))


async def call_of(
    request: Request, premises: Premises, cookies: Cookies, *, takes_files: bool = False, is_use: bool = True
) -> Call:
    """`is_use`: a person asked, and not the page by itself. Raises `PageFault` for somebody who is not in, may do
    nothing, or sends a form of another page.
    """
    token = cookies.session(request)
    session = await premises.sessions.find(token, is_use=is_use) if token else None
    actor = await premises.door.actor(session.person_id) if session is not None else None
    if token is None or session is None or actor is None:
        raise PageFault("signed-out")
    form, is_change = EMPTY, request.method == "POST"
    if is_change:
        form = await read_form(request, takes_files=takes_files)
        if not fits(form.get(FORM_TOKEN), token, Use.FORM):
            raise PageFault("form-expired", "Go back, load the page again, and send the form once more.")
    has_changed, seen = is_change or cookies.has_changed(request), cookies.seen(request, actor.name)
    return Call(request, premises, actor, session, token, form, has_changed, seen)

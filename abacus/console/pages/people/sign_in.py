"""Signing in, by whichever way there is, and out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from abacus.console.entry.decide.browser import Use, derived, fits, local_path
from abacus.console.entry.decide.sessions import zone_of
from abacus.console.entry.decide.welcome import Why, sentence_of
from abacus.console.entry.door import Denied
from abacus.console.entry.provider import BACK, Provider
from abacus.console.entry.types import VISIT_TOKEN, Visitor
from abacus.console.premises import Premises
from abacus.console.web.answer import Answers
from abacus.console.web.calls import call_of
from abacus.console.web.cookies import Cookies, Visit
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, FORM_TOKEN, Form, read_form
from abacus.console.web.page import Page
from abacus.console.web.routes import Routing
from abacus.core.errors import Refused
from abacus.core.tokens import NewToken

_LONGEST: Final = 200


@dataclass(frozen=True, kw_only=True)
class SignInPage(Page):
    """The ways to sign in, what was wrong with the last try, and why somebody was sent here. `link` is the token of a
    link that was followed.
    """

    template: ClassVar[str] = "sign_in.html"
    has_provider: bool
    next: str
    link: str | None = None
    person_id: str | None = None
    why: str | None = None


class SignIn:
    """The routes for somebody who is not in."""

    def __init__(self, premises: Premises, cookies: Cookies, answers: Answers) -> None:
        self._premises = premises
        self._cookies = cookies
        self._answers = answers

    def routes(self, routing: Routing) -> list[Route]:
        return [
            routing.open_route("/sign-in", self._shown),
            routing.open_route("/sign-in", self._password, "POST"),
            routing.open_route("/sign-in/link", self._link_shown),
            routing.open_route("/sign-in/link", self._link, "POST"),
            routing.open_route("/sign-in/provider", self._to_provider),
            routing.open_route(BACK, self._from_provider),
            routing.open_route("/sign-out", self._out, "POST"),
        ]

    async def _shown(self, request: Request) -> Response:
        return self._page(request, local_path(request.query_params.get("next")))

    async def _password(self, request: Request) -> Response:
        form = await self._form(request)
        next_ = local_path(form.get("next"))

        async def enter() -> NewToken:
            return await self._premises.door.by_password(
                form.get("person")[:_LONGEST].lower(),
                form.exactly("password"),
                form.get("code"),
                self._visitor(request, form.get("zone")),
            )

        return await self._entered(request, next_, enter, form=form.shown("password", "code"))

    async def _link_shown(self, request: Request) -> Response:
        """Looking at a link does not use it up: programs that look at mail follow links too."""
        text = request.query_params.get("token", "")
        try:
            link = await self._premises.door.knows(text, self._visitor(request))
        except Denied as denied:
            return self._page(request, "/", fault=str(denied), denied=denied)
        return self._page(request, "/", link=text, person_id=link.person_id)

    async def _link(self, request: Request) -> Response:
        form = await self._form(request)
        text = form.get("token")

        async def enter() -> NewToken:
            visitor = self._visitor(request, form.get("zone"))
            return await self._premises.door.by_link(text, form.get("code"), visitor)

        return await self._entered(request, "/", enter, link=text)

    async def _to_provider(self, request: Request) -> Response:
        provider = self._premises.rooms.find(Provider)
        if provider is None:
            raise PageFault("not-found")
        asked = request.query_params
        visit = Visit(VISIT_TOKEN.new().text, local_path(asked.get("next")), zone_of(asked.get("zone", "")))
        response = RedirectResponse(await provider.address_for(visit.token), status_code=303)
        self._cookies.set_visit(response, visit)
        return response

    async def _from_provider(self, request: Request) -> Response:
        provider, visit = self._premises.rooms.find(Provider), self._cookies.visit(request)
        if provider is None:
            raise PageFault("not-found")
        if visit is None:
            none = Denied("This browser has begun no sign-in, or too long ago: begin again with the button below.")
            return self._page(request, "/", fault=str(none), denied=none)
        answer = dict(request.query_params)

        async def enter() -> NewToken:
            visitor = self._visitor(request, visit.zone)
            return await self._premises.door.by_provider(await provider.vouches_for(visit.token, answer), visitor)

        return await self._entered(request, visit.next, enter)

    async def _out(self, request: Request) -> Response:
        call = await call_of(request, self._premises, self._cookies)
        await self._premises.door.leave(call.session)
        response = RedirectResponse(f"/sign-in?why={Why.OUT}", status_code=303)
        self._cookies.out(response)
        return response

    async def _entered(
        self,
        request: Request,
        next_: str,
        enter: Callable[[], Awaitable[NewToken]],
        *,
        form: Form = EMPTY,
        link: str | None = None,
    ) -> Response:
        """On to the page that was wanted, under a new session, or back to the form with what was wrong."""
        try:
            token = await enter()
        except Denied as denied:
            return self._page(request, next_, form=form, link=link, fault=str(denied), denied=denied)
        except Refused as fault:
            return self._page(request, next_, fault=str(fault), denied=Denied(""))
        response = RedirectResponse(next_, status_code=303)
        self._cookies.let_in(response, token.text, int(self._premises.sessions.limits.whole.total_seconds()))
        former = self._cookies.session(request)
        session = await self._premises.sessions.find(former) if former else None
        if session is not None:
            await self._premises.door.leave(session)
        return response

    def _page(
        self,
        request: Request,
        next_: str,
        *,
        form: Form = EMPTY,
        link: str | None = None,
        person_id: str | None = None,
        fault: str | None = None,
        denied: Denied | None = None,
    ) -> Response:
        visit = Visit((self._cookies.visit(request) or Visit(VISIT_TOKEN.new().text)).token)
        page = SignInPage(
            title="Sign in",
            has_provider=self._premises.rooms.find(Provider) is not None,
            next=next_,
            link=link,
            person_id=person_id,
            why=sentence_of(request.query_params.get("why"), self._premises.sessions.limits.idle),
            form=form,
            fault=fault,
        )
        response = self._answers.of(request, page, form_token=derived(visit.token, Use.FORM))
        self._cookies.set_visit(response, visit)
        if denied is not None:
            response.status_code = 429 if denied.wait_s else 403
            response.headers.update(_after(denied))
        return response

    async def _form(self, request: Request) -> Form:
        """Of a page that this browser was shown. Raises `PageFault`."""
        form, visit = await read_form(request), self._cookies.visit(request)
        if visit is None or not fits(form.get(FORM_TOKEN), visit.token, Use.FORM):
            raise PageFault("form-expired", "Go back, load the page again, and sign in once more.")
        return form

    def _visitor(self, request: Request, zone: str = "") -> Visitor:
        address = request.client.host if request.client is not None else "unknown"
        if self._premises.address.behind_proxy:
            address = request.headers.get("x-forwarded-for", address).rpartition(",")[2].strip()[:_LONGEST]
        return Visitor(address, request.headers.get("user-agent", ""), zone_of(zone))


def _after(denied: Denied) -> Mapping[str, str]:
    return {"Retry-After": str(denied.wait_s)} if denied.wait_s else {}

"""Routes: from a path to a function that makes a page, behind the checks that every page has."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias
from urllib.parse import quote

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from abacus.console.entry.decide.welcome import Why
from abacus.console.premises import Premises
from abacus.console.web.answer import Answers, wants_json
from abacus.console.web.calls import Call, call_of
from abacus.console.web.cookies import Cookies
from abacus.console.web.faults import PageFault, of_unavailable
from abacus.console.web.forms import DoneBefore, WrongForm
from abacus.console.web.page import Outcome, Page, See
from abacus.console.web.seen import Seen, with_newest
from abacus.console.web.things import named_at
from abacus.core.errors import Refused, Unavailable
from abacus.people.decide.rights import is_admin, roles_for, words
from abacus.people.store.people import PeopleStore
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

Handler: TypeAlias = Callable[[Call], Awaitable[Outcome]]
Anyone: TypeAlias = Callable[[Request], Awaitable[Response]]

_NAMED: Final = 5  # admins
_BY_ITSELF: Final = "x-by-itself"  # with this header a page asks what has changed, and nobody has touched it
_OF_STATUS: Final = {404: "not-found", 405: "method-not-allowed", 413: "too-large"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Served:
    """A page, or a form that is sent to it, for people who may do the deed in some country, or `everywhere`. The
    handler checks what belongs to one country. `is_file`: it is no page; `is_stream`: it goes on for minutes;
    `takes_files`: the form may have files of text; `shows`: the page on which a form that cannot be taken comes back,
    with what was typed and what is wrong.
    """

    path: str
    handler: Handler
    deed: Deed = Deed.SEE
    method: str = "GET"
    everywhere: bool = False
    is_file: bool = False
    is_stream: bool = False
    takes_files: bool = False
    shows: Handler | None = None


page: Final = Served
form: Final = partial(Served, method="POST")
file: Final = partial(Served, is_file=True)
stream: Final = partial(Served, is_file=True, is_stream=True)


class Routing:
    """Makes routes of pages. A fault becomes an answer here, whatever it is."""

    def __init__(self, premises: Premises, cookies: Cookies, answers: Answers) -> None:
        self._premises = premises
        self._cookies = cookies
        self._answers = answers

    def route(self, served: Served) -> Route:
        async def endpoint(request: Request) -> Response:
            request.scope["route"] = served  # by which the request is counted
            call: Call | None = None
            try:
                is_use = not served.is_stream and _BY_ITSELF not in request.headers
                call = await call_of(
                    request, self._premises, self._cookies, takes_files=served.takes_files, is_use=is_use
                )
                _check(call, served)
                return self._answered(request, await _outcome(call, served), call)
            except Exception as error:  # noqa: BLE001  # every fault has a page
                return self.faulty(request, await _with_way(error, call), call)

        return Route(served.path, endpoint, methods=[served.method])

    def _answered(self, request: Request, outcome: Outcome, call: Call) -> Response:
        if isinstance(outcome, Page) and request.method == "GET":
            outcome = replace(outcome, said=self._cookies.said(request, call.token))
        answer = self._answers.of(request, outcome, call)
        if request.method == "POST":
            self._cookies.set_changed(answer)
        if isinstance(outcome, See):
            self._cookies.set_said(answer, call.token, outcome)
        self._note_seen(request, outcome, call, answer)
        return answer

    def _note_seen(self, request: Request, outcome: Outcome, call: Call, answer: Response) -> None:
        """A person looked at the page of a thing."""
        if request.method == "GET" and isinstance(outcome, Page) and not wants_json(request):
            thing = named_at(request.scope["raw_path"].decode("latin-1"))
            if thing is not None and outcome.title:
                seen = with_newest(call.seen, Seen(*thing, outcome.title))
                self._cookies.set_seen(answer, call.actor.name, seen)

    def open_route(self, path: str, handler: Anyone, method: str = "GET") -> Route:
        """For somebody who is not in."""
        served = Served(path, _nobody, Deed.SEE, method)

        async def endpoint(request: Request) -> Response:
            request.scope["route"] = served
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001  # as above
                return self.faulty(request, error)

        return Route(path, endpoint, methods=[method])

    async def elsewhere(self, request: Request, error: Exception) -> Response:
        """For a path that is none."""
        return self.faulty(request, error)

    def faulty(self, request: Request, error: Exception, call: Call | None = None) -> Response:
        match error:
            case ClientDisconnect():
                raise error
            case PageFault():
                fault = error
            case DoneBefore():
                fault = PageFault("done-before", "It was sent twice; the first one counted. Look at what became of it.")
            case HTTPException():
                fault = PageFault(_OF_STATUS.get(error.status_code, "malformed"), status=error.status_code)
            case Unavailable():
                since = self._premises.outages.failed(error.dependency)
                fault = of_unavailable(error, since)
            case _:
                state = request.scope.get("state", {})
                log.error("page failed", path=request.url.path, request_id=state.get("request_id"), exc_info=error)
                fault = PageFault("internal", "It is in the log, under the id of this request.")
        if fault.kind == "signed-out" and not wants_json(request):
            return self._to_sign_in(request)
        return self._answers.fault(request, fault, call)

    def _to_sign_in(self, request: Request) -> Response:
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        address = f"/sign-in?next={quote(asked if request.method == 'GET' else '/', safe='/')}"
        if self._cookies.session(request) is not None:
            address += f"&why={Why.OVER if request.method == 'GET' else Why.UNSENT}"
        if request.headers.get("hx-request"):  # a part of a page: the whole page has to go there
            return Response(status_code=401, headers={"HX-Redirect": address})
        return RedirectResponse(address, status_code=303)


async def _with_way(error: Exception, call: Call | None) -> Exception:
    """A missing right with the names of people who can give it."""
    if not isinstance(error, PageFault) or error.kind != "role-needed" or call is None:
        return error
    try:
        registered = await call.rooms[PeopleStore].all()
    except Unavailable:
        return error
    people = [each.person for each in registered if each.person.disabled_at is None]
    admins = [each.person_id for each in people if is_admin(each.grants)][:_NAMED]
    way = f"Ask {' or '.join(admins)} for it." if admins else "There is no admin yet who could give it."
    return PageFault(error.kind, f"{error.detail} {way}")


def _check(call: Call, served: Served) -> None:
    if served.everywhere:
        call.check(served.deed, None)
    elif not call.may_somewhere(served.deed):
        needed = " or ".join(roles_for(served.deed))
        raise PageFault("role-needed", f"To {words(served.deed)} takes the role {needed} in some country.")


async def _outcome(call: Call, served: Served) -> Outcome:
    try:
        return await served.handler(call)
    except (CannotDecide, Refused, WrongForm) as error:
        if served.shows is None:
            raise
        wrong = error if isinstance(error, WrongForm) else WrongForm(call.form.shown(), str(error))
    shown = await served.shows(call)
    return replace(shown, form=wrong.form, fault=wrong.fault) if isinstance(shown, Page) else shown


async def _nobody(_: Call) -> Page | See:
    raise PageFault("not-found")

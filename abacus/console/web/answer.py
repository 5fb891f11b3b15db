"""Answers: a page as HTML or, where JSON is asked for, as its value; a fault as a page or a problem document."""

from collections.abc import AsyncIterator
from datetime import datetime
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from abacus.api.api_problem import MEDIA_TYPE, TYPES
from abacus.console.decide.dates import Shown, manner_of, shown
from abacus.console.decide.named import named_in
from abacus.console.decide.names import named
from abacus.console.web.assets import Assets
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import new_form_key
from abacus.console.web.navigation import open_to, shortcuts_of
from abacus.console.web.page import Download, Events, Outcome, See, plain
from abacus.console.web.things import THINGS, address_of, log_address
from abacus.core.clock import Clock

_TEMPLATES: Final = Path(__file__).parents[1] / "templates"
_JSON: Final = "application/json"
_HTML: Final = "text/html"
_UTC: Final = "UTC"
_OK: Final = 200
_REFUSED: Final = 422


@cache
def _templates() -> Environment:
    """Compiled as they are first used, once in a process."""
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["new_form_key"] = new_form_key
    templates.globals["named_in"] = named_in
    templates.globals["things"] = THINGS
    templates.filters["plain"] = plain
    templates.filters["named"] = named
    return templates


def wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "").lower()
    return "json" in accepted and _HTML not in accepted


class Answers:
    """Makes answers out of pages and faults."""

    def __init__(self, assets: Assets, clock: Clock) -> None:
        self._assets = assets
        self._clock = clock

    def of(self, request: Request, outcome: Outcome, call: Call | None = None, **more: Any) -> Response:
        """`more` is for the template alone."""
        if isinstance(outcome, See):
            return RedirectResponse(outcome.path, status_code=303)
        if isinstance(outcome, Download):
            kept = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(outcome.name, safe='')}"}
            return Response(outcome.content, media_type=outcome.media_type, headers=kept)
        if isinstance(outcome, Events):
            return StreamingResponse(_told(outcome.names), media_type="text/event-stream")
        status = _REFUSED if outcome.fault or outcome.form.wrong else _OK
        if wants_json(request):
            return Response(orjson.dumps(plain(outcome)), status, media_type=_JSON)
        return self._html(request, outcome.template, status, call, page=outcome, **more)

    def fault(self, request: Request, fault: PageFault, call: Call | None = None) -> Response:
        request_id = request.scope.get("state", {}).get("request_id")
        if wants_json(request):
            document = {
                "type": TYPES + fault.kind,
                "title": fault.title,
                "status": fault.status,
                "detail": fault.detail or fault.title,
                **({"request_id": request_id} if request_id else {}),
            }
            return Response(orjson.dumps(document), fault.status, media_type=MEDIA_TYPE)
        page = {"title": fault.title, "command": None, "said": None, **fault.told}
        return self._html(request, "fault.html", fault.status, call, page=page, request_id=request_id)

    def _html(self, request: Request, template: str, status: int, call: Call | None, **given: Any) -> Response:
        now = self._clock.now()
        zone = call.session.zone if call is not None else _UTC
        manner = manner_of(request.headers.get("accept-language", ""), zone)

        def moment(value: datetime, country: str | None = None) -> Shown:
            card = call.premises.card_of(country) if call is not None and country is not None else None
            return shown(value, now, manner, country, card.timezone if card is not None else None)

        text = (
            _templates()
            .get_template(template)
            .render(
                asset=self._assets.address,
                me=call,
                sections=open_to(call) if call is not None else [],
                here=request.url.path,
                log=log_address(call, request.scope["raw_path"].decode("latin-1")) if status == HTTPStatus.OK else None,
                shortcuts=shortcuts_of(call) if call is not None else [],
                moment=moment,
                address_of=partial(address_of, call),
                **given,
            )
        )
        return Response(text, status, media_type=_HTML)


async def _told(names: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """Server-sent events. The first line comes at once, so that the browser knows that it is heard."""
    yield b": listening\n\n"
    async for name in names:
        yield f"event: {name}\ndata:\n\n".encode()

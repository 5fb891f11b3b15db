"""The routes of a kind of documents whose versions have states: people see, check, submit and move them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Generic, TypeAlias

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, RootModel, TypeAdapter, create_model
from starlette.responses import Response

from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import PersonCall, person_of
from abacus.api.document_answers import DocumentAnswers
from abacus.api.document_schemas import schema_name
from abacus.api.lean import read_body
from abacus.api.route_description import answered, described
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import OUT_OF_FORCE, Act, State
from abacus.documents.kind import Around
from abacus.documents.stated import Running, Stated, StatedKind
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.campaigns.grantors import Grantors
from abacus.intake.partners.decide.ask import ReasonText
from abacus.people.decide.rights import countries_of
from abacus.people.types.deed import Deed

MOST_ON_PAGE: Final = 100
PAGE: Final = 50


class Moving(BaseModel):
    """The reason, for the log."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "Too many at once"}]})

    reason: ReasonText


_DOCUMENT: Final[TypeAdapter[dict[str, Any]]] = TypeAdapter(dict[str, Any])

Name = Annotated[str, Path(pattern="^[a-z][a-z0-9_]{0,63}$")]
Move: TypeAlias = Callable[[Name, Request], Awaitable[Response]]


class DocumentRoutes(Generic[Running, Around]):
    """A process opens `desk` among its rooms. `manual` is the page on these documents, `example` one of them, and
    `wrong_state` the problem of an act that the state of a version does not allow. A process that has documents which
    campaigns grant opens the `Grantors` as well.
    """

    def __init__(
        self,
        kind: StatedKind[Running, Around],
        desk: type[StatedDesk[Running, Around]],
        *,
        manual: str,
        example: Mapping[str, Any],
        wrong_state: str,
        is_granted: bool = False,
    ) -> None:
        self._kind = kind
        self._desk = desk
        self._wrong_state = wrong_state
        self._is_granted = is_granted
        self._answers = DocumentAnswers(kind, example, is_granted=is_granted)
        self._body = create_model(
            f"{kind.word.title()}Document",
            __doc__=f"A {kind.word}, as {manual} says. Its fields: the schema {schema_name(kind)}.",
            __config__=ConfigDict(extra="allow", json_schema_extra={"examples": [dict(example)]}),
        )

    def router(
        self,
        *,
        page: Callable[..., Awaitable[Response]] | None = None,
        more: type[BaseModel] | None = None,
        problems: Sequence[int] = (),
    ) -> APIRouter:
        """`page` takes the place of the route of all documents, and may hand on to it; it may answer `more`, and with
        these problems.
        """
        answers, word, plural = self._answers, self._kind.word, self._kind.plural
        router = APIRouter(prefix="/v1", tags=[plural], default_response_class=Response)
        waits = {202: (answers.submitted, "It waits for a second person")}
        router.add_api_route(
            f"/{plural}",
            page or self.page,
            name=plural,
            summary=f"The {plural}",
            description=f"The latest version of each {word} of the countries that your roles open, by name.",
            responses=answered({200: (_either(answers.page, more), "A page, by name")}, *problems, 422),
        )
        router.add_api_route(
            f"/{plural}",
            self._publish,
            methods=["POST"],
            name="publish",
            status_code=202,
            summary=f"Submit a {word}",
            description=f"Draft a version of a {word} and submit it. "
            "Another person approves it by `POST /v1/approvals/…/approve`.",
            responses=answered(waits, 409, 415, 422),
            openapi_extra=described(body=self._body),
        )
        router.add_api_route(
            f"/{plural}/lint",
            self._lint,
            methods=["POST"],
            name="lint",
            summary=f"Check a {word}",
            description="Check a document by what is published. Nothing is kept. "
            f"The problem names every fault by its pointer. It takes a\nrole that may edit {plural}, "
            "in whichever country.",
            responses=answered({200: (None, "It has no faults")}, 415, 422),
            openapi_extra=described(body=self._body),
        )
        router.add_api_route(
            f"/{plural}/{{name}}",
            self._latest,
            name=word,
            summary=f"A {word}",
            description=f"The latest version of a {word}, with its state.",
            responses=answered({200: (answers.one, "Its latest version")}, 404, 422),
        )
        router.add_api_route(
            f"/{plural}/{{name}}/versions",
            self._versions,
            name="versions",
            summary=f"The versions of a {word}",
            description=f"Every version of a {word}, with its state, and who drafted, changed and approved it.",
            responses=answered({200: (answers.history, "All versions, the first first")}, 404, 422),
        )
        router.add_api_route(
            f"/{plural}/{{name}}/submit",
            self._submit,
            methods=["POST"],
            name="submit",
            status_code=202,
            summary="Submit the latest version once more",
            description="Submit a version that was withdrawn or rejected.",
            responses=answered(waits, 404, 409, 415, 422),
        )
        for act, (summary, description) in _moves(word).items():
            router.add_api_route(
                f"/{plural}/{{name}}/{act}",
                self._move(act),
                methods=["POST"],
                name=act.value,
                summary=summary,
                description=description,
                responses=answered(
                    {200: (answers.taken_out if act in OUT_OF_FORCE else answers.one, "It is done")}, 404, 409, 415, 422
                ),
                openapi_extra=described(body=Moving),
            )
        return router

    async def history(self, call: PersonCall, name: str) -> Sequence[Stated[Running]]:
        """All versions of a document. Raises `ApiProblem` where there is none, or it is not open to the person."""
        history = await call.rooms[self._desk].history(name)
        if not history or not call.is_open(Deed.SEE, self._kind.country(history[-1].document)):
            raise ApiProblem("not-found", f"no such {self._kind.word} is open to you")
        return history

    async def page(
        self,
        request: Request,
        state: Annotated[State | None, Query()] = None,
        country: Annotated[str | None, Query(pattern="^[A-Z]{2}$")] = None,
        after: Annotated[str | None, Query(description="The last name of the page before.", max_length=64)] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_ON_PAGE)] = PAGE,
    ) -> Response:
        call = person_of(request)
        desk, countries = call.rooms[self._desk], countries_of(call.actor, Deed.SEE)
        if country is not None:
            countries = (country,) if countries is None or country in countries else ()
        found = await desk.page(countries=countries, state=state, after=after, limit=limit + 1)
        page = found[:limit]
        following = self._kind.name(page[-1].document) if len(found) > limit else None
        return json_answer({self._kind.plural: self._answers.versions(page, desk.now()), "next": following})

    async def _publish(self, request: Request) -> Response:
        call, document = await self._drafted(request)
        country = document.get("country")
        if isinstance(country, str):
            call.check(self._kind.deed, country)
        return await self._submitted(call, await self._read(call, document), is_new=True)

    async def _lint(self, request: Request) -> Response:
        call, document = await self._drafted(request)
        draft, desk = await self._read(call, document), call.rooms[self._desk]
        if faults := await desk.faults_beside(draft, await desk.around()):
            raise DocumentFaults(faults)
        return json_answer({"name": self._kind.name(draft), "country": self._kind.country(draft), "faults": []})

    async def _latest(self, name: Name, request: Request) -> Response:
        call = person_of(request)
        return self._told(call, (await self.history(call, name))[-1])

    async def _versions(self, name: Name, request: Request) -> Response:
        call = person_of(request)
        now = call.rooms[self._desk].now()
        return json_answer({"versions": self._answers.versions(await self.history(call, name), now)})

    async def _submit(self, name: Name, request: Request) -> Response:
        call = person_of(request)
        return await self._submitted(call, await self._editable(call, name), is_new=False)

    def _move(self, act: Act) -> Move:
        async def move(name: Name, request: Request) -> Response:
            call = person_of(request)
            body = await read_body(request, Moving.model_validate)
            document = await self._editable(call, name)
            try:
                moved = await call.rooms[self._desk].move(document, act, body.reason, call.actor)
            except Refused as fault:
                raise ApiProblem(self._wrong_state, str(fault)) from None
            if not self._is_granted or act not in OUT_OF_FORCE:
                return self._told(call, moved)
            granted = await call.rooms[Grantors].standing(moved.document, call.rooms[self._desk])
            return json_answer(self._answers.version(moved, call.rooms[self._desk].now()) | granted.document)

        return move

    async def _drafted(self, request: Request) -> tuple[PersonCall, dict[str, Any]]:
        """Raises `ApiProblem` for a person who may edit nothing of the kind, before the document is looked at."""
        call, document = person_of(request), await read_body(request, _DOCUMENT.validate_python)
        if countries_of(call.actor, self._kind.deed) == ():
            country = document.get("country")
            call.check(self._kind.deed, country if isinstance(country, str) else None)
        return call, document

    async def _read(self, call: PersonCall, document: Mapping[str, object]) -> Running:
        desk = call.rooms[self._desk]
        return await desk.read(document, await desk.around())

    async def _submitted(self, call: PersonCall, document: Running, *, is_new: bool) -> Response:
        desk = call.rooms[self._desk]
        try:
            record, approval = await (desk.propose if is_new else desk.submit)(document, call.actor)
        except DocumentFaults:
            raise
        except Refused as fault:
            raise ApiProblem(self._wrong_state, str(fault)) from None
        return json_answer(self._answers.submission(record, approval, desk.now()), 202)

    async def _editable(self, call: PersonCall, name: str) -> Running:
        """The latest version of a document. Raises `ApiProblem` where the person may not edit it."""
        document = (await self.history(call, name))[-1].document
        call.check(self._kind.deed, self._kind.country(document))
        return document

    def _told(self, call: PersonCall, record: Stated[Running]) -> Response:
        return json_answer(self._answers.version(record, call.rooms[self._desk].now()))


def _moves(word: str) -> Mapping[Act, tuple[str, str]]:
    """What people do to a version, with the summary and the description of each route."""
    return {
        Act.PAUSE: (
            f"Pause a {word}",
            "It does nothing any more within a second. What happens meanwhile is not made up for.",
        ),
        Act.RESUME: (f"Resume a {word}", f"A paused {word} runs again."),
        Act.END: (f"End a {word}", "It is over for good. What was decided before is still done."),
        Act.WITHDRAW: ("Withdraw a submitted version", "The version is a draft again, and cannot be approved."),
    }


def _either(page: type[BaseModel], more: type[BaseModel] | None) -> type[BaseModel]:
    if more is None:
        return page
    examples = [example for each in (page, more) for example in each.model_json_schema()["examples"]]
    config = {"model_config": ConfigDict(json_schema_extra={"examples": examples}), "__doc__": page.__doc__}
    return type(f"{page.__name__}OrMore", (RootModel[page | more],), {**config, "__module__": __name__})  # type: ignore[valid-type]  # made here

"""Moving the members inside a version of a journey to the version that takes members in: where each lands, a dry run,
and once another person has agreed, the move.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.decide.form_field import FormField
from abacus.console.decide.journey_picture import what_happens
from abacus.console.decide.migration_words import counted, landings
from abacus.console.pages.drafts.trials import Trial
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.pages.journeys.migration_trials import NODE, Move, make_move, trials_of_move, try_move
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import ASKED, Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.form.sentences import Sentence
from abacus.documents.stated import Stated
from abacus.engage.journeys.decide.graph import in_order
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.migration import Migration
from abacus.engage.journeys.decide.report import Glance
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind, Status
from abacus.people.types.deed import Deed

_CHOOSE: Final = ("", "choose")
_NOBODY: Final = ("", "nobody waits here")
_CHOOSE_ONE: Final = "Choose where they go on: the other version has no node of this name."
_TRIED_WITHIN: Final = timedelta(days=1)
_LOOK_FIRST: Final = "Look at a dry run of exactly this first, of the last day: the person who approves it sees it."
_NOT_AGREED: Final = "Nobody else has agreed to exactly this."


@dataclass(frozen=True, kw_only=True)
class JourneyMigratePage(Page):
    """`origins` are the versions whose members may be moved, `before` is the chosen one with its members `inside`, and
    `after` the version that takes members in, if there is one. `refused` says why no map can help. `landings` tell the
    move, once nothing is wrong with it; `waiting` is the approval that it waits for, and `agreed_by` the person who
    agreed.
    """

    template: ClassVar[str] = "journey_migrate.html"
    name: str
    path: str
    address: str
    origins: Sequence[tuple[str, str]]
    before: int | None
    inside: int
    after: int | None
    fields: Sequence[FormField]
    refused: str | None
    landings: Sequence[Sentence]
    trials: Part[Sequence[Trial]] | None
    is_tried: bool
    is_moving: bool
    waiting: UUID | None
    agreed_by: str | None


@dataclass(frozen=True)
class _Versions:
    """What members are moved from and to; None where nobody can be moved."""

    name: str
    glance: Glance
    origins: Sequence[Journey]
    before: Journey | None
    after: Journey | None


async def migrate(call: Call) -> JourneyMigratePage:
    """The address has the version and the map; so a form that was sent comes back as it was."""
    versions, path = await _versions(call), f"{PAGES.path}/{call.request.path_params['name']}/migrate"
    name, before, after = versions.name, versions.before, versions.after
    form = call.form.shown() if call.form.typed else call.narrowed(*call.request.query_params)
    migration, refused = None, None
    if before is not None and after is not None:
        migration, _, refused = await _judged(call, before, after, form)
    move = None if migration is None else Move.from_(migration)
    trials = None if move is None else await call.part(trials_of_move(call, move, move.address))
    agreed = None if migration is None else await call.rooms[JourneyDesk].agreed(migration)
    return JourneyMigratePage(
        title=f"Move members of {name}",
        command=_command(name, before, after, move),
        name=name,
        path=path,
        address=path if move is None else move.address,
        origins=[(str(each.version), _origin(each, versions.glance)) for each in versions.origins],
        before=None if before is None else before.version,
        inside=0 if before is None else versions.glance.versions.get(before.version, 0),
        after=None if after is None else after.version,
        fields=[] if before is None or after is None else list(_fields(before, after, versions.glance)),
        refused=refused,
        landings=() if migration is None else _landings(migration),
        trials=trials,
        is_tried=await _members(call, move) is not None,
        is_moving=await _is_moving(call, move),
        waiting=await _waiting(call, move),
        agreed_by=None if agreed is None else agreed.decided_by,
        form=form,
    )


async def act(call: Call) -> See:
    """Tries the move, asks another person for it, or makes it."""
    versions = await _versions(call)
    if versions.before is None or versions.after is None:
        raise call.wrong("There is no version whose members could be moved.")
    migration, wrong, refused = await _judged(call, versions.before, versions.after, call.form)
    if migration is None:
        raise call.wrong(refused, **wrong)
    desk, move = call.rooms[JourneyDesk], Move.from_(migration)
    match call.form.get("act"):
        case "submit":
            members = await _members(call, move)
            if members is None:
                raise call.wrong(_LOOK_FIRST)
            approval = await desk.may_migrate(migration, members, call.actor)
            return See(move.address) if approval is None else See(f"/approvals/{approval.approval_id}", ASKED)
        case "move":
            if await desk.agreed(migration) is None:
                raise call.wrong(_NOT_AGREED)
            return await make_move(call, move, move.address)
        case _:
            return await try_move(call, move, move.address)


async def _versions(call: Call) -> _Versions:
    """Raises `PageFault`."""
    history = await PAGES.history(call)
    newest = history[-1].document
    call.check(Deed.EDIT_JOURNEYS, newest.country)
    members = await call.rooms[JourneyDesk].glance(newest.name)
    after = next((each.document for each in history if each.in_force), None)
    origins = [each.document for each in history if _is_origin(each, after, members)]
    asked = call.given("from")
    before = next((each for each in reversed(origins) if asked is None or str(each.version) == asked), None)
    if before is None and asked is not None:
        named = [each.document for each in history if str(each.document.version) == asked and each.approved_at]
        before = next((each for each in named if after is not None and each.version != after.version), None)
        if before is None:
            raise PageFault("not-found", f"No members of {newest.name}@{asked} can be moved.")
    return _Versions(newest.name, members, origins, before if after is not None else None, after)


def _is_origin(each: Stated[Journey], after: Journey | None, members: Glance) -> bool:
    """Whether somebody is inside the version who may be moved."""
    version = each.document.version
    return after is not None and version != after.version and members.versions.get(version, 0) > 0


async def _judged(
    call: Call, before: Journey, after: Journey, form: Form
) -> tuple[Migration | None, Mapping[str, str], str | None]:
    """The move; or what is wrong with it, at fields, and as a whole."""
    try:
        move = await call.rooms[JourneyDesk].migration(before.name, before.version, after.version, _map(before, form))
    except DocumentFaults as error:
        wrong = {
            f"{NODE}{each.path}": _said(each) if form.get(f"{NODE}{each.path}") else _CHOOSE_ONE
            for each in error.faults
            if each.path in before.nodes
        }
        whole = [_said(each) for each in error.faults if each.path not in before.nodes]
        return None, wrong, " ".join(whole) or None
    except Refused as fault:
        return None, {}, f"{fault}."
    return move, {}, None


def _said(fault: Fault) -> str:
    return f"{fault.message[:1].upper()}{fault.message[1:]}."


def _map(before: Journey, form: Form) -> Mapping[str, str]:
    """The counterparts that were chosen, but for namesakes."""
    chosen = {name: form.get(f"{NODE}{name}") for name in before.nodes}
    return {name: there for name, there in chosen.items() if there not in {"", name}}


def _fields(before: Journey, after: Journey, members: Glance) -> Iterator[FormField]:
    """A choice for each node where members may wait, or whose members would have nowhere to land."""
    old, new = (JOURNEYS.to_document(each)["nodes"] for each in (before, after))
    waits = {node.name for node in Migration(before, after, {}).nodes()}
    options = [(name, f"{name}: {what_happens(new[name])}") for name in (each.name for each in in_order(after))]
    for node in in_order(before):
        has_namesake = node.name in after.nodes
        if node.name not in waits and has_namesake:
            continue
        counts = members.nodes.get(node.number)
        waiting = 0 if counts is None else counts.waiting
        first = [] if has_namesake else [_CHOOSE if node.name in waits or waiting else _NOBODY]
        yield FormField(
            f"{NODE}{node.name}",
            f"{node.name}: {what_happens(old[node.name])}",
            node.name if has_namesake else "",
            options=[*first, *options],
        )


def _origin(version: Journey, members: Glance) -> str:
    inside = members.versions.get(version.version, 0)
    return f"version {version.version}: {counted(inside)} inside"


def _landings(migration: Migration) -> Sequence[Sentence]:
    return landings(migration, *(JOURNEYS.to_document(each) for each in (migration.before, migration.after)))


async def _members(call: Call, move: Move | None) -> int | None:
    """How many members the newest dry run found; None without one of the last day."""
    done = None if move is None else await move.dry_run(call)
    if done is None or done.document is None or call.now - done.errand.asked_at > _TRIED_WITHIN:
        return None
    return int(done.document["members"])


async def _is_moving(call: Call, move: Move | None) -> bool:
    done = None if move is None else await move.run(call)
    return done is not None and done.errand.state.is_open


async def _waiting(call: Call, move: Move | None) -> UUID | None:
    """The approval that waits for another person."""
    if move is None:
        return None
    countries = None if move.country is None else [move.country]
    kinds = [ApprovalKind.JOURNEY_MIGRATION]
    found: Sequence[Approval] = await call.rooms[Approvals].all(status=Status.PENDING, kinds=kinds, countries=countries)
    same = [each.approval_id for each in found if (each.subject, each.digest) == (move.name, move.digest)]
    return same[0] if same else None


def _command(name: str, before: Journey | None, after: Journey | None, move: Move | None) -> str | None:
    if before is None or after is None:
        return None
    map_ = " --map map.toml" if move is not None and move.map else ""
    return f"abacus journeys migrate {name} --from {before.version} --to {after.version}{map_}"

"""`abacus exchanges links`, `link`, `verify` and `unlink`: the accounts of a member at partners."""

from typing import Annotated, Any
from uuid import UUID

import typer

from abacus.cli.exchanges.linking import linking
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.known import check_member, checked_reason
from abacus.core.errors import Refused, absent
from abacus.exchanges.decide.link import CODE_PATTERN, NUMBER_PATTERN, Link, LinkState, is_code_text, is_number_text
from abacus.exchanges.link_desk import LinkDesk, Wanted
from abacus.exchanges.types import Account
from abacus.people.decide.rights import may
from abacus.people.types.deed import Deed

Member = Annotated[str, typer.Argument(metavar="MEMBER", help="The member's id.", show_default=False)]
LinkId = Annotated[
    UUID, typer.Argument(metavar="LINK", help="Its id; `abacus exchanges links` prints it.", show_default=False)
]


async def list_links(member: Member) -> Answer:
    """List the accounts of a member at partners, the newest first; numbers are shown by their ends."""
    check_member(member)
    async with actor() as at, linking(at) as desk:
        found = await desk.of_member(member)
        countries = await desk.countries(found)
        found = [each for each in found if may(at.actor, Deed.SEE, countries.get(each.programme))]
        now = at.clock.now()
    columns = ("link", "programme", "number", "state", "since", "verified by")
    rows = [
        [str(each.link_id), each.programme, each.shown, each.state_at(now), _since(each), _verified_by(each)]
        for each in found
    ]
    return Answer([_document(each, each.state_at(now)) for each in found], Table(f"Links of {member}", columns, rows))


async def link_account(
    member: Member,
    programme: Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)],
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="Of the account.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="The holder's name, where the partner compares it.")] = None,
    send_code: Annotated[bool, typer.Option("--send-code", help="Tell the member a code that verifies it.")] = False,
) -> Answer:
    """Link a member's account at a partner; `verify` comes next."""
    check_member(member)
    if not is_number_text(number):
        raise Refused(f"{number!r} is not the number of an account: {NUMBER_PATTERN}")
    async with actor() as at, linking(at) as desk:
        at.check(Deed.MOVE_POINTS, desk.programme(programme).country)
        wanted = Wanted(programme, Account(number.strip(), name), sends_code=send_code)
        return _told(await desk.ask(member, wanted, at.actor.agent), at)


async def verify_link(
    link: LinkId,
    code: Annotated[str | None, typer.Option(help="That the member was told. Without it the partner is asked.")] = None,
) -> Answer:
    """Verify a link by a code, or by what the partner says."""
    if code is not None and not is_code_text(code):
        raise Refused(f"{code!r} is not a code of six digits: {CODE_PATTERN}")
    async with actor() as at, linking(at) as desk:
        return _told(await desk.verify(await _found(desk, at, link), code, at.actor.agent), at)


async def unlink_account(
    link: LinkId, reason: Annotated[str, typer.Option(help="For the log.", show_default=False)]
) -> Answer:
    """End a link. Exchanges that are open go on."""
    why = checked_reason(reason)
    async with actor() as at, linking(at) as desk:
        return _told(await desk.unlink(await _found(desk, at, link), at.actor.agent, why), at)


async def _found(desk: LinkDesk, at: CommandActor, link_id: UUID) -> Link:
    """Raises `Absent`, and `Refused` where the actor may not change it."""
    found = await desk.of_id(link_id)
    if found is None:
        raise absent("link", link_id)
    at.check(Deed.MOVE_POINTS, (await desk.countries([found])).get(found.programme))
    return found


def _told(link: Link, at: CommandActor) -> Answer:
    state = link.state_at(at.clock.now())
    why = f": {link.reason}" if state is LinkState.REFUSED else ""
    return Answer(
        _document(link, state),
        f"link {link.link_id}: {link.shown} of {link.member_id} at {link.programme} is {state}{why}",
    )


def _since(link: Link) -> str:
    return str(link.ended_at or link.verified_at or link.asked_at)


def _verified_by(link: Link) -> str:
    return link.way.value if link.verified_at is not None and link.way is not None else ""


def _document(link: Link, state: LinkState) -> dict[str, Any]:
    return {
        "link_id": link.link_id,
        "programme": link.programme,
        "member_id": link.member_id,
        "number": link.shown,
        "state": state,
        "way": link.way,
        "reason": link.reason,
        "asked_at": link.asked_at,
        "asked_by": link.asked_by,
        "verified_at": link.verified_at,
        "usable_from": link.usable_from,
        "ended_at": link.ended_at,
    }

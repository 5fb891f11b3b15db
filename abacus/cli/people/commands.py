"""`abacus people`: the people of the house, their roles and tokens, and the log of what was done."""

import json
from datetime import timedelta
from typing import Annotated, Any, Final

import typer

from abacus.cli.people.desk import people_desk
from abacus.cli.terminal.answer import Answer, Secret, Table
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.shell import CommandGroup, moment, people_pool, pool
from abacus.core.clock import SystemClock
from abacus.people.decide.names import checked_person_id, parse_grants
from abacus.people.store.audit import log as entries_of
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed, Entry
from abacus.people.types.person import Registered

app = CommandGroup(help="People: roles, personal tokens, and the log of what was done.", no_args_is_help=True)

_MOST_DAYS: Final = 366
_FOR_DAYS: Final = 90
_OF_A_TOKEN: Final = ("prefix", "created_at", "expires_at", "revoked_at", "last_used_at", "created_by")

PersonId = Annotated[str, typer.Argument(metavar="PERSON", help="The person's id, for example ann.")]
Roles = Annotated[
    list[str],
    typer.Option("--role", metavar="ROLE[:COUNTRY]", help="support:SG, or admin for all countries; repeat it."),
]
Days = Annotated[int, typer.Option(min=1, max=_MOST_DAYS, help="Days for which the token is valid.")]


@app.command("create")
async def create(person: PersonId, role: Roles) -> Answer:
    """Enter a person with roles. Takes an admin; the first admin may be entered by anybody."""
    checked_person_id(person)
    grants = parse_grants(role)
    async with actor(people_pool) as at:
        await people_desk(at).create(person, grants, at.actor)
    return Answer(
        {"person_id": person, "roles": list(map(str, grants))},
        f"{person} is {', '.join(map(str, grants))}; `abacus people token {person}` makes a token",
    )


@app.command("list")
async def list_people() -> Answer:
    """List the people, their roles, and the beginnings of their valid tokens."""
    async with pool() as opened:
        people = await PeopleStore(opened, SystemClock()).all()
    columns = ["person", "roles", "tokens", "until", "last used", "since"]
    return Answer([_document(each) for each in people], Table("People", columns, [_row(each) for each in people]))


@app.command("roles")
async def roles(person: PersonId, role: Roles) -> Answer:
    """Replace the roles of a person by these. Takes an admin."""
    grants = parse_grants(role)
    async with actor(people_pool) as at:
        await people_desk(at).give_roles(person, grants, at.actor)
    return Answer({"person_id": person, "roles": list(map(str, grants))}, f"{person} is {', '.join(map(str, grants))}")


@app.command("disable")
async def disable(person: PersonId) -> Answer:
    """Refuse a person's tokens from now on, and end its sessions. Takes an admin."""
    async with actor(people_pool) as at:
        since = await people_desk(at).disable(person, at.actor)
    document = {"person_id": person, "disabled_at": since}
    return Answer(document, f"{person} is disabled since {since:%Y-%m-%d %H:%M} UTC")


@app.command("enable")
async def enable(person: PersonId) -> Answer:
    """Accept a disabled person's tokens again. Takes an admin."""
    async with actor(people_pool) as at:
        await people_desk(at).enable(person, at.actor)
    return Answer({"person_id": person, "disabled_at": None}, f"{person} is enabled")


@app.command("token")
async def token(person: PersonId, days: Days = _FOR_DAYS) -> Answer:
    """Print a new personal token. It is not shown again. Takes an admin, or the person itself."""
    async with actor(people_pool) as at:
        made, until = await people_desk(at).make_token(person, timedelta(days=days), at.actor)
    return Answer(
        {"person_id": person, "token": made.text, "expires_at": until.isoformat()},
        Secret(f"the token of {person}, valid until {until:%Y-%m-%d %H:%M} UTC and shown this once", made.text),
    )


@app.command("revoke")
async def revoke(
    person: PersonId,
    which: Annotated[
        str | None,
        typer.Option("--token", metavar="PREFIX", help="Only the token that `list` shows so; all otherwise."),
    ] = None,
) -> Answer:
    """End a person's tokens now. Takes an admin, or the person itself."""
    async with actor(people_pool) as at:
        ended = await people_desk(at).revoke(person, which, at.actor)
    return Answer(
        {"person_id": person, "revoked": ended}, f"revoked: {', '.join(ended) or 'nothing, no token was valid'}"
    )


@app.command("whoami")
async def whoami() -> Answer:
    """Show who runs the commands here: the person of ABACUS_TOKEN, or the login."""
    async with actor() as at:
        one = at.actor
    granted = list(map(str, one.grants or ()))
    document = {"source": one.source, "authenticated": one.is_authenticated, "roles": granted}
    if one.grants is None:
        return Answer(document, f"{one.name}, a login: nobody has checked who that is, and it may not approve")
    return Answer(document, f"{one.name}: {', '.join(granted)}")


@app.command("log")
async def log(
    actor: Annotated[str | None, typer.Option(metavar="SOURCE", help="Only this actor's: person:ann.")] = None,
    deed: Annotated[Deed | None, typer.Option(help="Only these deeds.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="Only what was done to this or about its approvals: member:bob.")
    ] = None,
    country: Annotated[str | None, typer.Option(help="Only what was done in this country: SG.")] = None,
    since: Annotated[str | None, typer.Option(help="Only since this time, with an offset.")] = None,
    until: Annotated[str | None, typer.Option(help="Only before this time, with an offset.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
) -> Answer:
    """List what was done and by whom, the newest first."""
    check_country(country)
    begin = moment("--since", since) if since is not None else None
    end = moment("--until", until) if until is not None else None
    async with pool() as opened:
        entries = await entries_of(
            opened,
            actor=actor,
            deed=deed,
            subjects=[subject] if subject is not None else None,
            since=begin,
            until=end,
            countries=[country] if country is not None else None,
            limit=limit,
        )
    columns = ["when", "who", "deed", "subject", "country", "details"]
    rows = [[each.at, each.actor, each.deed, each.subject, each.country, _details(each)] for each in entries]
    return Answer(
        [each._asdict() | {"details": json.loads(each.details)} for each in entries], Table("Log", columns, rows)
    )


def _document(registered: Registered) -> dict[str, Any]:
    person, tokens = registered
    return {
        **person._asdict(),
        "grants": list(map(str, person.grants)),
        "tokens": [{name: getattr(each, name) for name in _OF_A_TOKEN} for each in tokens],
    }


def _row(registered: Registered) -> list[object]:
    person, now = registered.person, SystemClock().now()
    valid = [token for token in registered.tokens if token.holds(now)]
    since = f"{person.created_at:%Y-%m-%d} by {person.created_by}"
    return [
        person.person_id,
        ", ".join(map(str, person.grants)),
        "\n".join(token.prefix for token in valid),
        "\n".join(f"{token.expires_at:%Y-%m-%d}" for token in valid),
        "\n".join(f"{token.last_used_at:%Y-%m-%d}" if token.last_used_at else "never" for token in valid),
        since if person.disabled_at is None else f"disabled {person.disabled_at:%Y-%m-%d}",
    ]


def _details(entry: Entry) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in json.loads(entry.details).items())


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

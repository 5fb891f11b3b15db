"""What the servers of a Citus have to have before slices lie there: the application's role, its members, and a door for
these from server to server.

The tables' owner gives what it may, from the coordinator. What is left is told to an administrator, server by server.
"""

import json
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.platform.pool import Address
from abacus.platform.postgres import DEPENDENCY, Connection
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.sql import Statement

_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"

# From Postgres 16 on, being a member no longer means that one may take the role.
_TAKES: Final = "case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end"
_LOGINS: Final = f"""
select m.rolname from pg_roles m join pg_roles a on a.rolname = '{APPLICATION_ROLE}'
where m.rolcanlogin and not m.rolsuper and m.oid <> a.oid and pg_has_role(m.oid, a.oid, {_TAKES})
union select current_user order by 1
"""

# Each server runs these for itself, and answers with a text. The logins are in them as a literal.
_TELL: Final = f"""
select json_build_object(
    'prepares', current_setting('max_prepared_transactions')::int,
    'is_there', exists (select from pg_roles where rolname = '{APPLICATION_ROLE}'),
    'enters', exists (select from pg_roles where rolname = '{APPLICATION_ROLE}' and rolcanlogin),
    'logins', (select json_agg(rolname) from pg_roles where rolcanlogin and rolname = any(%1$L::text[])),
    'members', (select json_agg(m.rolname) from pg_roles m join pg_roles a on a.rolname = '{APPLICATION_ROLE}'
        where m.rolname = any(%1$L::text[]) and pg_has_role(m.oid, a.oid, {_TAKES})))
"""
_GIVE: Final = f"""
do $give$ declare login text; begin
    set local citus.enable_ddl_propagation = off;
    if not exists (select from pg_roles where rolname = '{APPLICATION_ROLE}') then
        create role {APPLICATION_ROLE} login;
    elsif not exists (select from pg_roles where rolname = '{APPLICATION_ROLE}' and rolcanlogin) then
        alter role {APPLICATION_ROLE} login;
    end if;
    foreach login in array %1$L::text[] loop
        if exists (select from pg_roles where rolname = login)
            and not pg_has_role(login::name, '{APPLICATION_ROLE}'::name, {_TAKES})
        then execute format('grant {APPLICATION_ROLE} to %%I', login); end if;
    end loop;
end $give$
"""
_ON_EACH: Final = Statement("""
select n.nodename as host, n.nodeport as port, r.success, r.result
from run_command_on_all_nodes(format(:command::text, :logins::text[])) r join pg_dist_node n using (nodeid)
where n.noderole = 'primary' order by n.groupid
""")

# A server that the coordinator cannot enter itself has no result.
_DOORS: Final = """
select distinct case when h.result is null then c.nodename else h.from_nodename end as from_host,
    case when h.result is null then c.nodeport else h.from_nodeport end as from_port,
    case when h.result is null then h.from_nodename else h.to_nodename end as to_host,
    case when h.result is null then h.from_nodeport else h.to_nodeport end as to_port
from citus_check_cluster_node_health() h, pg_dist_node c
where h.result is not true and c.groupid = 0 order by to_host, to_port, from_host, from_port
"""

# Before it moves a slice, and after, Citus connects to the coordinator's own server under this name.
_OWN_DOOR: Final = """
select current_user as login, own.name as host, own.port, citus_check_connection_to_node(own.name, own.port) as is_open
from (select current_setting('citus.local_hostname') as name, current_setting('port')::int as port) own
"""


class Unprepared(Refused):
    """What an administrator has to do, a line for each server."""

    def __init__(self, faults: Sequence[Refused]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


class Server(NamedTuple):
    """A server, as it tells itself: the logins that it knows, and which of them may take the application's role."""

    address: Address
    prepares: int
    is_there: bool
    enters: bool
    logins: Collection[str]
    members: Collection[str]


class Door(NamedTuple):
    """A server that another one could not enter with this login."""

    login: str
    source: Address
    target: Address


async def prepare(connection: Connection) -> None:
    """Give the servers what slices need. On the coordinator, as the tables' owner; before the first migration, too.

    Raises `Refused` where there is no Citus, `Unprepared` for what the owner has no right to, and `Unavailable`.
    """
    if not await connection.fetchval(_HAS_CITUS):
        raise Refused("this database has no Citus; run `create extension citus` in it first (docs/scaling.md)")
    logins = [row["rolname"] for row in await connection.fetch(_LOGINS)]
    owner = await connection.fetchval("select current_user")
    servers = await _servers(connection, logins)
    if lacks(servers, logins):
        await connection.fetch(*_ON_EACH(command=_GIVE, logins=logins))
        servers = await _servers(connection, logins)
    doors = await _shut(connection, owner)
    if all(each.enters and owner in each.members for each in servers):
        async with connection.transaction():
            await connection.execute(f"set local role {APPLICATION_ROLE}")
            doors += await _shut(connection, APPLICATION_ROLE)
    if faults := [*lacks(servers, logins), *shut(doors)]:
        raise Unprepared(faults)


async def prepare_moves(connection: Connection) -> None:
    """See that slices can be moved from here. Raises `Unprepared`."""
    door = await connection.fetchrow(_OWN_DOOR)
    if not door["is_open"]:
        fault = (
            f"the coordinator does not let {door['login']} in from itself by the name {door['host']}:{door['port']}"
            " (citus.local_hostname), and no slice can be moved: its pg_hba.conf has to, as it has to let in the"
            " extension's owner, and its own user needs both passwords in .pgpass, where they are asked for"
            " (docs/scaling.md)"
        )
        raise Unprepared([Refused(fault)])


def lacks(servers: Sequence[Server], logins: Sequence[str]) -> list[Refused]:
    """What an administrator has to do on each server, where anything is left. Pure."""
    return [
        Refused(f"on {each.address} an administrator has to {wanted}")
        for each in servers
        if (wanted := _wanted(each, logins))
    ]


def shut(doors: Sequence[Door]) -> list[Refused]:
    """What an administrator has to do where servers do not let each other in. Pure."""
    sources: dict[tuple[str, Address], list[str]] = {}
    for login, source, target in doors:
        sources.setdefault((login, target), []).append(str(source))
    return [
        Refused(
            f"{target} does not let {login} in from {', '.join(among)}: its pg_hba.conf has to, and the user that the"
            " others run as needs a password in .pgpass, where one is asked for (docs/scaling.md)"
        )
        for (login, target), among in sources.items()
    ]


def _wanted(server: Server, logins: Sequence[str]) -> str:
    """In words and SQL; empty, where nothing is wanted."""
    statements = []
    if not server.is_there:
        statements.append(f"create role {APPLICATION_ROLE} login")
    elif not server.enters:
        statements.append(f"alter role {APPLICATION_ROLE} login")
    for login in logins:
        if login not in server.logins:
            statements.append(f"create role {_quoted(login)} login")
        if login not in server.members:
            statements.append(f"grant {APPLICATION_ROLE} to {_quoted(login)}")
    wanted = [f"run `{'; '.join(statements)}`"] if statements else []
    if not server.prepares:
        wanted.append("set max_prepared_transactions, which is 0: nothing can be committed on two servers at once")
    return ", and to ".join(wanted)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


async def _servers(connection: Connection, logins: Sequence[str]) -> list[Server]:
    """Raises `Unavailable` where one of them does not answer."""
    servers = []
    for host, port, success, result in await connection.fetch(*_ON_EACH(command=_TELL, logins=logins)):
        if not success:
            raise Unavailable(DEPENDENCY, f"{host}:{port}, asked by the coordinator: {result}")
        told = json.loads(result)
        known, members = told.pop("logins") or (), told.pop("members") or ()
        servers.append(Server(Address(host, port), **told, logins=known, members=members))
    return servers


async def _shut(connection: Connection, login: str) -> list[Door]:
    return [
        Door(login, Address(from_host, from_port), Address(to_host, to_port))
        for from_host, from_port, to_host, to_port in await connection.fetch(_DOORS)
    ]

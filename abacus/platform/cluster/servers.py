"""What the servers of a Citus have to have before slices lie there: the application's roles, their members, and a door
for these from server to server.

The tables' owner gives what it may, from the coordinator. What is left is told to an administrator, server by server.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.platform.pool.sliced_pool import Address
from abacus.platform.postgres import DEPENDENCY, Connection
from abacus.platform.roles import APPLICATION_ROLE, CONSOLE_ROLE, PEOPLE_ROLE
from abacus.platform.sql import Statement

# Each of them may go to slices, straight or by way of the coordinator.
ROLES: Final = (APPLICATION_ROLE, PEOPLE_ROLE, CONSOLE_ROLE)

_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"

# From Postgres 16 on, being a member no longer means that one may take the role.
_TAKES: Final = "case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end"

# Who may take which role at the coordinator; the owner may take all, and all that the workers may the other roles may.
_MEMBERS: Final = Statement(f"""
select r.rolname::text as role, m.rolname::text as login
from pg_roles m join pg_roles r on r.rolname = any(:roles::text[])
where (m.rolcanlogin or m.rolname = any(:roles::text[])) and not m.rolsuper and m.oid <> r.oid
    and pg_has_role(m.oid, r.oid, {_TAKES})
union select role, current_user::text from unnest(:roles::text[]) role
union select '{APPLICATION_ROLE}', role from unnest(:roles::text[]) role where role <> '{APPLICATION_ROLE}'
order by role, login
""")

# Each server runs these for itself, and answers with a text. Which login has which role is in them as literals.
_TELL: Final = f"""
select json_build_object(
    'prepares', current_setting('max_prepared_transactions')::int,
    'known', (select json_agg(rolname) from pg_roles where rolname = any(%1$L::text[] || %2$L::text[])),
    'enter', (select json_agg(rolname) from pg_roles
        where rolcanlogin and rolname = any(%1$L::text[] || %2$L::text[])),
    'members', (select json_agg(json_build_array(r.rolname, m.rolname))
        from unnest(%1$L::text[], %2$L::text[]) as u (role, login)
        join pg_roles r on r.rolname = u.role join pg_roles m on m.rolname = u.login
        where pg_has_role(m.oid, r.oid, {_TAKES})))
"""
_GIVE: Final = f"""
do $give$ declare wanted record; begin
    set local citus.enable_ddl_propagation = off;
    for wanted in select distinct role, case when r.oid is null then 'create' else 'alter' end as verb
        from unnest(%1$L::text[]) role left join pg_roles r on r.rolname = role where r.rolcanlogin is not true
    loop
        execute format('%%s role %%I login', wanted.verb, wanted.role);
    end loop;
    for wanted in select u.role, u.login from unnest(%1$L::text[], %2$L::text[]) as u (role, login)
        join pg_roles r on r.rolname = u.role join pg_roles m on m.rolname = u.login
        where not pg_has_role(m.oid, r.oid, {_TAKES})
    loop
        execute format('grant %%I to %%I', wanted.role, wanted.login);
    end loop;
end $give$
"""
_ON_EACH: Final = Statement("""
select n.nodename as host, n.nodeport as port, r.success, r.result
from run_command_on_all_nodes(format(:command::text, :roles::text[], :logins::text[])) r
join pg_dist_node n using (nodeid)
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


class Member(NamedTuple):
    """A login, or another role, that may take this role."""

    role: str
    login: str


class Server(NamedTuple):
    """A server, as it tells itself: the roles and logins that it knows, which of them may log in, and take what."""

    address: Address
    prepares: int
    known: Collection[str]
    enter: Collection[str]
    members: Collection[Member]


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
        raise Refused("this database has no Citus; run `create extension citus` in it first (docs/operate/slices.md)")
    owner = await connection.fetchval("select current_user")
    members = [Member(*row) for row in await connection.fetch(*_MEMBERS(roles=ROLES))]
    servers = await _servers(connection, members)
    if lacks(servers, members):
        await connection.fetch(*_on_each(_GIVE, members))
        servers = await _servers(connection, members)
    doors = await _shut(connection, owner)
    faults = lacks(servers, members)
    if not faults:
        for role in ROLES:
            async with connection.transaction():
                await connection.execute(f"set local role {role}")
                doors += await _shut(connection, role)
    if faults := [*faults, *shut(doors)]:
        raise Unprepared(faults)


async def prepare_moves(connection: Connection) -> None:
    """See that slices can be moved from here. Raises `Unprepared`."""
    door = await connection.fetchrow(_OWN_DOOR)
    if not door["is_open"]:
        fault = (
            f"the coordinator does not let {door['login']} in from itself by the name {door['host']}:{door['port']}"
            " (citus.local_hostname), and no slice can be moved: its pg_hba.conf has to, as it has to let in the"
            " extension's owner, and its own user needs both passwords in .pgpass, where they are asked for"
            " (docs/operate/slices.md)"
        )
        raise Unprepared([Refused(fault)])


def lacks(servers: Sequence[Server], members: Sequence[Member]) -> list[Refused]:
    """What an administrator has to do on each server, where anything is left. Pure."""
    return [
        Refused(f"on {each.address} an administrator has to {wanted}")
        for each in servers
        if (wanted := _wanted(each, members))
    ]


def shut(doors: Sequence[Door]) -> list[Refused]:
    """What an administrator has to do where servers do not let each other in. Pure."""
    sources: dict[tuple[str, Address], list[str]] = {}
    for login, source, target in doors:
        sources.setdefault((login, target), []).append(str(source))
    return [
        Refused(
            f"{target} does not let {login} in from {', '.join(among)}: its pg_hba.conf has to, and the user that the"
            " others run as needs a password in .pgpass, where one is asked for (docs/operate/slices.md)"
        )
        for (login, target), among in sources.items()
    ]


def _wanted(server: Server, members: Sequence[Member]) -> str:
    """In words and SQL; empty, where nothing is wanted."""
    roles, logins = ({each[place]: None for each in members} for place in (0, 1))
    statements = [
        f"{'alter' if name in server.known else 'create'} role {_quoted(name)} login"
        for name in {**roles, **logins}
        if name not in server.enter
    ]
    statements += [
        f"grant {_quoted(each.role)} to {_quoted(each.login)}" for each in members if each not in server.members
    ]
    wanted = [f"run `{'; '.join(statements)}`"] if statements else []
    if not server.prepares:
        wanted.append("set max_prepared_transactions, which is 0: nothing can be committed on two servers at once")
    return ", and to ".join(wanted)


def _quoted(name: str) -> str:
    return name if name in ROLES else '"' + name.replace('"', '""') + '"'


def _on_each(command: str, members: Sequence[Member]) -> tuple[Any, ...]:
    roles, logins = [each.role for each in members], [each.login for each in members]
    return _ON_EACH(command=command, roles=roles, logins=logins)


async def _servers(connection: Connection, members: Sequence[Member]) -> list[Server]:
    """Raises `Unavailable` where one of them does not answer."""
    servers = []
    for host, port, success, result in await connection.fetch(*_on_each(_TELL, members)):
        if not success:
            raise Unavailable(DEPENDENCY, f"{host}:{port}, asked by the coordinator: {result}")
        told = json.loads(result)
        may = [Member(*each) for each in told["members"] or ()]
        address, known, enter = Address(host, port), told["known"] or (), told["enter"] or ()
        servers.append(Server(address, told["prepares"], known, enter, may))
    return servers


async def _shut(connection: Connection, login: str) -> list[Door]:
    return [
        Door(login, Address(from_host, from_port), Address(to_host, to_port))
        for from_host, from_port, to_host, to_port in await connection.fetch(_DOORS)
    ]

"""The roles that logins act as: the workers', and beyond it the role that enters people, and the console's.

While the logins of a database are not split, the workers' role may all that the others may, and one login is enough.
"""

from typing import Final, NamedTuple

import asyncpg

from abacus.core.errors import Refused
from abacus.platform.postgres import Connection, passing_failures
from abacus.platform.roles import APPLICATION_ROLE, CONSOLE_ROLE, PEOPLE_ROLE

# A writer of these can be any person: the workers' role may write them, until the logins are split.
_OF_PERSONS: Final = (
    *("person", "person_token", "console_authenticator", "console_draft", "console_errand", "console_errand_file"),
    *("console_form", "console_link", "console_password", "console_selection", "console_session"),
)

# From Postgres 16 on, being a member no longer means that one may take the role.
_STANDING: Final = f"""
select coalesce((
        select pg_has_role(current_user, oid, case when current_setting('server_version_num')::int >= 160000
            then 'set' else 'member' end)
        from pg_roles where rolname = $1
    ), false) as may_take,
    not has_table_privilege('{APPLICATION_ROLE}', 'person', 'insert') as is_split
"""


class Login(NamedTuple):
    """Another login than the workers': its address, or None where that is the same, and the setting that names it."""

    url: str | None
    role: str
    setting: str


def console_login(url: str | None) -> Login:
    return Login(url, CONSOLE_ROLE, "ABACUS_CONSOLE_DATABASE_URL")


def people_login(url: str | None) -> Login:
    return Login(url, PEOPLE_ROLE, "ABACUS_PEOPLE_DATABASE_URL")


class _Standing(NamedTuple):
    may_take: bool
    is_split: bool


async def role_for(database_url: str, role: str, setting: str) -> str:
    """That role, or the workers' for a login that may not take it, as long as the logins are not split.

    `setting` names the address of a login that may. Raises `Refused` where one is needed, and `Unavailable`.
    """
    try:
        async with passing_failures():
            connection = await asyncpg.connect(database_url, timeout=5)
    except ValueError as error:  # asyncpg cannot make sense of the address
        raise Refused(f"{setting}: {error}") from error
    try:
        async with passing_failures():
            standing = _Standing(*await connection.fetchrow(_STANDING, role))
    finally:
        await connection.close()
    if standing.may_take:
        return role
    if standing.is_split:
        raise Refused(f"{setting} has to name a login with `grant {role} to LOGIN`: the workers' login may not do this")
    return APPLICATION_ROLE


async def split(connection: Connection) -> None:
    """From now on the workers' role enters nobody, makes no token, session or errand, and changes no segment. In a
    transaction, as the tables' owner.
    """
    tables = ", ".join(_OF_PERSONS)
    await connection.execute(f"revoke insert, update, delete on {tables} from {APPLICATION_ROLE}")
    await connection.execute(f"grant update (last_used_at) on person_token to {APPLICATION_ROLE}")
    await connection.execute(f"grant insert, delete on segment_version to {PEOPLE_ROLE}, {CONSOLE_ROLE}")
    await connection.execute(f"revoke insert, delete on segment_version from {APPLICATION_ROLE}")

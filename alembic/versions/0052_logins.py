"""Roles for who enters people, and for the console: with them, the workers' login need not be able to be any person.

Both may what the workers may. Until the logins are split (`abacus migrate --split-logins`) the workers' role keeps its
rights, so that nothing stops that has one login for all.
"""

from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

# Roles belong to the whole server: another Abacus database on it may have made them already, even just now.
ROLES = """
do $$ declare
    wanted text;
    taken text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
    foreach wanted in array array['abacus_people', 'abacus_console'] loop
        begin
            if not exists (select from pg_roles where rolname = wanted) then
                execute format('create role %I nologin', wanted);
            end if;
            if not pg_has_role(wanted::name, 'abacus_app'::name, 'member') then
                execute format('grant abacus_app to %I', wanted);
            end if;
            if not pg_has_role(current_user, wanted::name, taken) then
                execute format('grant %I to %I', wanted, current_user);
            end if;
        exception when duplicate_object or unique_violation or internal_error then null;
        end;
    end loop;
exception when insufficient_privilege then
    raise exception 'an administrator has to run: % grant abacus_people, abacus_console to %',
        'create role abacus_people nologin; create role abacus_console nologin;'
        ' grant abacus_app to abacus_people, abacus_console;', current_user
        using errcode = 'insufficient_privilege';
end $$
"""

RIGHTS = {
    "abacus_people": {
        "person": "insert, update (grants, disabled_at)",
        "person_token": "insert, update (revoked_at, last_used_at)",
        "console_authenticator": "insert, delete, update (secret, set_at, set_by, last_step)",
        "console_link": "insert, delete, update (used_at)",
        "console_password": "insert, update (hash, set_at, set_by)",
        "console_session": "update (ended_at, ended_by)",
    },
    "abacus_console": {
        "person": "insert, update (grants, disabled_at)",
        "console_authenticator": "update (last_step)",
        "console_errand": (
            "insert, delete, update (state, runner, token_prefix, token_digest, started_at, seen_at, ended_at,"
            " progress, exit_code, told, output)"
        ),
        "console_errand_file": "insert, delete",
        "console_form": "insert, delete",
        "console_link": "delete, update (used_at)",
        "console_password": "update (hash)",
        "console_selection": "insert, delete",
        "console_session": "insert, delete, update (seen_at, zone, ended_at, ended_by)",
    },
}


def upgrade() -> None:
    op.execute(ROLES)
    for role, tables in RIGHTS.items():
        for table, rights in tables.items():
            op.execute(f"grant {rights} on {table} to {role}")


def downgrade() -> None:
    """The roles stay: other databases of the server may have them, too."""
    for role, tables in RIGHTS.items():
        for table in tables:
            op.execute(f"revoke all on {table} from {role}")
    for table, rights in RIGHTS["abacus_console"].items():
        op.execute(f"grant {rights} on {table} to abacus_app")
    for table, rights in RIGHTS["abacus_people"].items():
        op.execute(f"grant {rights} on {table} to abacus_app")

"""Tables and functions by pgledger's names, as the harness calls them. Its own SQL is not ours to keep."""

from typing import Final

SQL: Final = """
create table pgledger_accounts (
    id text primary key default gen_random_uuid(), name text not null, currency text not null,
    balance numeric not null default 0
);
create table pgledger_transfers (
    id text primary key default gen_random_uuid(), from_account_id text not null, to_account_id text not null,
    amount numeric not null, metadata jsonb
);
create type transfer_request as (from_account_id text, to_account_id text, amount numeric);

create function pgledger_create_account(name text, currency text) returns setof pgledger_accounts language sql as $$
    insert into pgledger_accounts (name, currency) values (name, currency) returning *
$$;
create function pgledger_create_transfers(
    transfer_requests transfer_request[], event_at timestamptz default null, metadata jsonb default null
) returns setof pgledger_transfers language sql as $$
    update pgledger_accounts a set balance = a.balance + moved.points from (
        select id, sum(points) as points from unnest(transfer_requests) as r,
            lateral (values (from_account_id, -amount), (to_account_id, amount)) as side (id, points) group by id
    ) as moved where moved.id = a.id;
    insert into pgledger_transfers (from_account_id, to_account_id, amount, metadata)
    select r.from_account_id, r.to_account_id, r.amount, metadata from unnest(transfer_requests) as r returning *
$$;
"""

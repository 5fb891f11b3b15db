-- The ledger: keys, accounts, transfers, lots, holds, and what a transfer drew.

create table claim (
    key text collate "C" not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    fingerprint text not null,
    constraint claim_pkey primary key (key)
);

create table account (
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text not null,
    balance bigint not null default 0,
    held bigint not null default 0,
    earned_total bigint not null default 0,
    expires_on date,
    last_seq bigint not null default 0,
    head_hash bytea not null default '\x',
    -- The transaction of the last transfer: no later transfer may carry a smaller one (docs/adr/0003).
    last_xid xid8 not null default '0',
    -- How far its lots are used up, when it last lapsed, and whether each lot has a day of its own (docs/adr/0016).
    lots_closed bigint not null default 0,
    lots_drawn bigint not null default 0,
    lapsed_seq bigint not null default 0,
    lifetime boolean not null default false,
    -- Its day by activity: `expires_on` goes with the points, this stays (docs/adr/0043).
    active_until date,
    constraint account_pkey primary key (member_id, program)
) with (fillfactor = 70);
-- A month's end finds its accounts in this order.
create index account_country_expires_on_member_id_program_idx on account (country, expires_on, member_id, program);

create table transfer (
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    kind text not null,
    points bigint not null,
    balance_after bigint not null,
    key text collate "C" not null,
    country text not null,
    occurred_at timestamptz not null,
    posted_at timestamptz not null,
    expires_on date,
    -- json and not jsonb: the text stays as it was written, because the hash covers that text.
    explanation json not null,
    reverses text,
    actor text,
    xid xid8 not null default pg_current_xact_id(),
    hash bytea not null,
    -- The fields that the hash covers (`ledger/decide/chain.py`); rows of format 1 were written without a source,
    -- those before format 3 without the way in which the account lapses.
    format smallint not null default 1,
    source text,
    lifetime boolean,
    constraint transfer_pkey primary key (member_id, program, seq)
);
-- The relay reads in commit order.
create index transfer_xid_idx on transfer (xid);
-- The relay is rewound to a time.
create index transfer_posted_at_idx on transfer using brin (posted_at);
-- The earlier reversals of a transfer.
create index transfer_member_id_program_reverses_idx on transfer (member_id, program, reverses)
    where reverses is not null;

-- Points that a transfer took from one lot by name, rather than from the oldest. Append-only, as transfers are.
create table draw (
    member_id text collate "C" not null,
    program text collate "C" not null,
    lot_seq bigint not null,
    seq bigint not null,
    points bigint not null,
    constraint draw_pkey primary key (member_id, program, lot_seq, seq)
);

-- Points held for someone, changed only under the lock of their account.
create table hold (
    member_id text collate "C" not null,
    hold_id uuid not null,
    program text collate "C" not null,
    country text not null,
    points bigint not null,
    until timestamptz not null,
    status text not null,
    held_by text not null,
    placed_seq bigint not null,
    settled_seq bigint,
    constraint hold_pkey primary key (member_id, hold_id)
);
-- Overdue holds.
create index hold_until_idx on hold (until) where status = 'open';

-- How far the ledger is told of, and what seals say of it.

create table relay_cursor (
    topic text not null,
    xid xid8 not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    seq bigint not null,
    moved_at timestamptz not null,
    constraint relay_cursor_pkey primary key (topic)
);

-- `published_at` is null until the brokers have it. All else of a seal is never changed.
create table seal (
    number bigint not null,
    sealed_at timestamptz not null,
    accounts bigint not null,
    transfers bigint not null,
    root bytea not null,
    snapshot text not null,
    previous bytea not null,
    hash bytea not null,
    published_at timestamptz,
    format smallint not null default 1, -- The fields that its leaves and its own hash cover (`proof/decide/seal.py`).
    constraint seal_pkey primary key (number)
);
create index seal_published_at_idx on seal (published_at) where published_at is null;

-- The leaf of an old seal's tree for an account that bears another name now (docs/adr/0017), and its place among the
-- leaves. The account itself, under the name that it has now, is left out of that tree.
create table sealed_leaf (
    member_id text collate "C" not null,
    program text collate "C" not null,
    seal_number bigint not null,
    "position" bigint not null,
    leaf bytea not null,
    transfers bigint not null,
    constraint sealed_leaf_pkey primary key (member_id, program, seal_number)
);
create index sealed_leaf_seal_number_position_idx on sealed_leaf (seal_number, "position");

-- What a seal has of each slice; of a ledger that is not cut there are no rows.
create table seal_slice (
    seal_number bigint not null,
    slice smallint not null,
    accounts bigint not null,
    transfers bigint not null,
    root bytea not null,
    constraint seal_slice_pkey primary key (seal_number, slice)
);

-- Slices of a ledger that is cut, and the register of keys over all of them.

create table slice (
    number smallint not null,
    constraint slice_pkey primary key (number)
);

-- Each key with the slice that it belongs to, entered before anything is written under it. Only where there are
-- slices.
create table key_slice (
    key text collate "C" not null,
    slice smallint not null,
    constraint key_slice_pkey primary key (key)
);

-- What a point is worth.

create table rate_card (
    scope text not null,
    version integer not null,
    effective_from timestamptz not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    approved_by text,
    constraint rate_card_pkey primary key (scope, version)
);

-- A card that is withdrawn before it begins is never in force. Append-only, as cards are.
create table rate_card_withdrawal (
    scope text not null,
    version integer not null,
    withdrawn_at timestamptz not null,
    withdrawn_by text not null,
    reason text not null,
    constraint rate_card_withdrawal_pkey primary key (scope, version)
);

create table assumption (
    program text collate "C" not null,
    country text collate "C" not null,
    version integer not null,
    effective_from date not null,
    currency text not null,
    expected_use numeric not null,
    cost_per_point numeric,
    selling_price numeric,
    allocated_per_point numeric,
    set_at timestamptz not null,
    set_by text not null,
    reason text not null,
    constraint assumption_pkey primary key (program, country, version)
);

-- Tiers.

-- The tier that an operator has set; it stands above the tier by points until it is cleared.
create table membership (
    member_id text collate "C" not null,
    program text collate "C" not null,
    tier text not null,
    reason text not null,
    actor text not null,
    set_at timestamptz not null,
    constraint membership_pkey primary key (member_id, program)
);

-- The tier by points, and how far the points stream is counted. Every change of an account's tier locks this row.
create table account_tier (
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text, -- null until points were earned at home
    tier text not null,
    until date,
    last_seq bigint not null default 0,
    changes bigint not null default 0,
    constraint account_tier_pkey primary key (member_id, program)
) with (fillfactor = 70);
create index account_tier_country_until_member_id_program_idx on account_tier (country, until, member_id, program)
    where until is not null;

create table tier_tally (
    member_id text collate "C" not null,
    program text collate "C" not null,
    starts_on date not null,
    ends_on date not null, -- a new policy may divide the calendar otherwise
    until date not null,
    earned bigint not null,
    tier text not null,
    threshold bigint not null,
    constraint tier_tally_pkey primary key (member_id, program, starts_on, ends_on)
) with (fillfactor = 70);

-- Every change of the tier that counts. It is published from here, in the order of `n` for each account.
create table tier_change (
    member_id text collate "C" not null,
    program text collate "C" not null,
    n bigint not null,
    country text,
    from_tier text not null,
    to_tier text not null,
    reason text not null,
    actor text,
    note text,
    earned bigint,
    starts_on date,
    ends_on date,
    until date,
    changed_at timestamptz not null,
    published_at timestamptz,
    constraint tier_change_pkey primary key (member_id, program, n)
);
create index tier_change_member_id_program_n_idx on tier_change (member_id, program, n) where published_at is null;

-- Through which day the tiers of a country have been rolled.
create table tier_calendar (
    country text not null,
    rolled_through date not null,
    constraint tier_calendar_pkey primary key (country)
);

-- One run for each country and day; it is taken up again until it is finished.
create table tier_roll (
    country text not null,
    through date not null,
    found bigint not null,
    stepped_down bigint not null default 0,
    kept bigint not null default 0,
    started_at timestamptz not null,
    finished_at timestamptz,
    constraint tier_roll_pkey primary key (country, through)
);

-- The end of points, month by month.

-- `swept_at` is null until every account is entered, `finished_at` until every batch is done. The three columns of
-- the cursor (`found_…`) name the last account that was entered.
create table expiry_run (
    country text collate "C" not null,
    month text collate "C" not null,
    last_day date not null,
    lapsed_at timestamptz not null,
    started_at timestamptz not null,
    swept_at timestamptz,
    finished_at timestamptz,
    found_day date not null,
    found_member text collate "C" not null,
    found_program text collate "C" not null,
    constraint expiry_run_pkey primary key (country, month)
);

-- An envelope is kept from before it is sent until it is done, so that it can be sent again as it was. Its counts
-- are written by the transaction that expired it: together they are the run's.
create table expiry_batch (
    country text collate "C" not null,
    month text collate "C" not null,
    number integer not null,
    accounts integer not null,
    body text,
    sent_at timestamptz,
    done_at timestamptz,
    expired integer not null default 0,
    skipped integer not null default 0,
    points bigint not null default 0,
    constraint expiry_batch_pkey primary key (country, month, number)
);

-- What is set aside.

create table quarantine (
    id text not null,
    stage text not null,
    origin text not null,
    reason text not null,
    detail text not null,
    body bytea not null,
    key text,
    fingerprint text,
    posted_fingerprint text,
    status text not null,
    set_aside_at timestamptz not null,
    replayed_at timestamptz,
    replays integer not null default 0,
    constraint quarantine_pkey primary key (id)
);
create index quarantine_status_reason_set_aside_at_idx on quarantine (status, reason, set_aside_at);
-- Finds the outcome of an award.
create index quarantine_key_idx on quarantine (key);

-- Partners: who they are, what they may award and what they asked for.

create table partner (
    partner_id text collate "C" not null,
    name text not null,
    fixed_points boolean not null,
    computed_points boolean not null,
    countries text[] not null,
    card_scope text, -- its own card; without one, the country's
    requests_per_minute integer not null,
    signing_secret text, -- requests must be signed with it; without one, they need not be signed
    created_at timestamptz not null,
    created_by text not null,
    disabled_at timestamptz,
    may_spend boolean not null default true,
    may_adjust boolean not null default false,
    may_see_others boolean not null default false,
    sources text[], -- of transactions, beside its own id; null: any, for partners from before
    may_count boolean not null default false,
    constraint partner_pkey primary key (partner_id)
);

create table partner_key (
    prefix text collate "C" not null,
    partner_id text collate "C" not null,
    digest bytea not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    constraint partner_key_pkey primary key (prefix)
);
create index partner_key_partner_id_idx on partner_key (partner_id);

-- Each partner's limits, and the points that it has awarded. Each batch with an award of the partner locks its row.
-- In a ledger in slices these are the points that slices have awarded, or may award: their parts say which.
create table allowance (
    partner_id text collate "C" not null,
    per_award bigint,
    per_member_day bigint,
    per_day bigint,
    in_total bigint,
    used bigint not null default 0,
    day date not null default '-infinity',
    used_that_day bigint not null default 0,
    constraint allowance_pkey primary key (partner_id)
);

-- What a slice has awarded for a partner, and how much of the partner's budgets is elsewhere (docs/adr/0061). Only
-- where there are slices.
create table allowance_part (
    partner_id text collate "C" not null,
    per_award bigint,
    per_member_day bigint,
    per_day bigint,
    in_total bigint,
    used bigint not null,
    day date not null,
    used_that_day bigint not null,
    elsewhere bigint not null,
    elsewhere_that_day bigint not null,
    constraint allowance_part_pkey primary key (partner_id)
);

create table allowance_member (
    member_id text collate "C" not null,
    partner_id text collate "C" not null,
    day date not null,
    used bigint not null,
    constraint allowance_member_pkey primary key (member_id, partner_id, day)
);

-- Awards that met a limit, kept for ever as claims are.
create table rejection (
    key text collate "C" not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    points bigint not null,
    fingerprint text not null,
    reason text not null,
    detail text not null,
    rejected_at timestamptz not null,
    xid xid8 not null default pg_current_xact_id(),
    constraint rejection_pkey primary key (key)
);
-- Webhooks read rejections in commit order.
create index rejection_xid_idx on rejection (xid);

-- Awards requested by partners, by the id that the partner knows. `queued_at` is null until the queue has taken it.
create table partner_award (
    award_id uuid not null,
    key text collate "C" not null,
    partner_id text collate "C" not null,
    member_id text collate "C" not null,
    program text collate "C" not null,
    country text not null,
    points bigint not null,
    occurred_at timestamptz not null,
    expires_on date not null,
    activity boolean not null,
    fingerprint text not null,
    explanation json not null,
    asked_at timestamptz not null,
    taken_until timestamptz, -- a process is sending it, at most until then
    queued_at timestamptz,
    lifetime boolean not null default false,
    provisional boolean not null default false,
    constraint partner_award_pkey primary key (award_id)
);

-- What partners asked for in the last days, and how it was answered.
create table partner_request (
    partner_id text collate "C" not null,
    at timestamptz not null,
    noted_id uuid not null,
    request_id text collate "C" not null,
    mode text not null,
    method text not null,
    path text not null,
    status integer not null,
    took_s double precision not null,
    problem text,
    detail text,
    constraint partner_request_pkey primary key (partner_id, at, noted_id)
);
create index partner_request_partner_id_request_id_idx on partner_request (partner_id, request_id);
create index partner_request_at_idx on partner_request (at);
create index partner_request_refused_idx on partner_request (partner_id, at, noted_id) where status >= 400;

-- The address for messages to a partner about its awards.
create table webhook (
    partner_id text collate "C" not null,
    url text not null,
    secret text not null,
    former_secret text, -- signs too, until then
    former_secret_until timestamptz,
    created_at timestamptz not null, -- earlier events are not sent
    disabled_at timestamptz,
    disabled_why text,
    constraint webhook_pkey primary key (partner_id)
);

-- What partners are told. A delivered one stays for a month, so that an event that is read again makes no second
-- one.
create table webhook_delivery (
    message_id text collate "C" not null,
    partner_id text collate "C" not null,
    type text not null,
    body text not null,
    created_at timestamptz not null,
    attempts integer not null default 0,
    due_at timestamptz not null,
    retry_until timestamptz not null,
    taken_until timestamptz, -- a worker is sending it, at most until then
    delivered_at timestamptz,
    given_up_at timestamptz,
    last_status integer,
    last_error text,
    member_id text collate "C" not null,
    constraint webhook_delivery_pkey primary key (message_id)
);
create index webhook_delivery_partner_id_due_at_idx on webhook_delivery (partner_id, due_at)
    where delivered_at is null and given_up_at is null;
create index webhook_delivery_partner_id_created_at_idx on webhook_delivery (partner_id, created_at)
    where delivered_at is null;
create index webhook_delivery_delivered_at_idx on webhook_delivery (delivered_at) where delivered_at is not null;

-- How far rejections have been turned into deliveries.
create table webhook_cursor (
    source text not null,
    xid xid8 not null,
    key text collate "C" not null,
    moved_at timestamptz not null,
    constraint webhook_cursor_pkey primary key (source)
);

-- People, approvals by a second person, and the log of what was done.

create table person (
    person_id text collate "C" not null,
    grants text[] not null, -- `support:SG`, `admin`
    created_at timestamptz not null,
    created_by text not null,
    disabled_at timestamptz,
    constraint person_pkey primary key (person_id)
);

create table person_token (
    prefix text collate "C" not null,
    person_id text collate "C" not null,
    digest bytea not null,
    created_at timestamptz not null,
    created_by text not null,
    expires_at timestamptz not null,
    revoked_at timestamptz,
    last_used_at timestamptz,
    constraint person_token_pkey primary key (prefix)
);
create index person_token_person_id_idx on person_token (person_id);

-- What was asked for is never changed; the status goes one way. `asked_by` and `decided_by` are sources.
create table approval (
    approval_id uuid not null,
    kind text not null,
    subject text not null,
    country text,
    summary text not null,
    document text not null, -- canonical JSON, as text: the digest covers it
    digest text not null,
    asked_by text not null,
    asked_at timestamptz not null,
    status text not null default 'pending',
    decided_by text,
    decided_at timestamptz,
    note text,
    before_people boolean not null default false, -- It was decided by a name that was typed, before there were people.
    constraint approval_pkey primary key (approval_id),
    constraint approval_status_check check (status in ('pending', 'approved', 'done', 'rejected', 'void')),
    constraint approval_second_person_check check (
        status not in ('approved', 'done') or before_people
        or (decided_by is not null and decided_by is distinct from asked_by and decided_by like 'person:%')
    )
);
create unique index approval_open_idx on approval (kind, subject) where status in ('pending', 'approved');
create index approval_asked_at_idx on approval (asked_at);

-- Append-only. `subject` says what it was done to, by kind and id: `member:bob`, `partner:acme`, `card:SG@7`.
create table audit_log (
    entry_id uuid not null,
    at timestamptz not null,
    actor text not null,
    authenticated boolean not null,
    deed text not null,
    subject text not null,
    country text,
    details json not null,
    constraint audit_log_pkey primary key (entry_id)
);
create index audit_log_at_idx on audit_log (at);
create index audit_log_subject_idx on audit_log (subject);

-- Books, and what was erased from them.

-- `files` and `accepted` are JSON texts: the SHA-256 of each file by its name, and the obstacles that were accepted.
-- The seal is the first that covers the month's end. A row that reopens the month has no files and no seal.
create table month_close (
    month text collate "C" not null,
    number integer not null,
    act text not null,
    signed_by text not null,
    signed_at timestamptz not null,
    reason text not null,
    files text not null,
    accepted text not null,
    seal integer,
    seal_hash text,
    constraint month_close_pkey primary key (month, number)
);

create table erasure (
    pseudonym text collate "C" not null,
    erased_at timestamptz not null,
    erased_by text not null,
    reason text not null,
    accounts json not null, -- of each: transfers, balance, and the head of its chain before and after
    rows json not null, -- how many were touched, by table
    constraint erasure_pkey primary key (pseudonym)
);

-- Messages to members.

-- One row for each event. It stays after it was told, so that an event that is read again is not told again.
create table notice (
    member_id text collate "C" not null,
    event_id text collate "C" not null,
    happened_at timestamptz not null,
    seq bigint not null,
    part json not null,
    due_at timestamptz not null, -- until then it waits for others to be told with
    told_at timestamptz, -- set when a message was made of it, or the member wants none
    constraint notice_pkey primary key (member_id, event_id)
);
create index notice_due_at_idx on notice (due_at) where told_at is null;
create index notice_member_id_idx on notice (member_id) where told_at is null;
create index notice_told_at_idx on notice (told_at);

-- One row for each message and channel.
create table notification (
    member_id text collate "C" not null,
    message_id text collate "C" not null,
    channel text not null,
    locale text not null,
    parts json not null,
    created_at timestamptz not null,
    due_at timestamptz not null,
    attempts integer not null default 0,
    failing_since timestamptz,
    last_error text,
    sent_at timestamptz,
    parked_at timestamptz,
    constraint notification_pkey primary key (member_id, message_id, channel)
);
create index notification_channel_due_at_idx on notification (channel, due_at)
    where sent_at is null and parked_at is null;
create index notification_parked_at_idx on notification (parked_at) where parked_at is not null;
create index notification_sent_at_idx on notification (sent_at) where sent_at is not null;

-- Null means the default: English, and every channel that there is.
create table notification_preference (
    member_id text collate "C" not null,
    locale text,
    channels text[],
    set_by text not null,
    set_at timestamptz not null,
    constraint notification_preference_pkey primary key (member_id)
);

-- Events, counters and segments.

create table event_source (
    source text not null,
    version integer not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint event_source_pkey primary key (source, version)
);

-- A version is never changed: the latest of a definition is in force.
create table counter_definition (
    definition_id integer not null,
    version integer not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint counter_definition_pkey primary key (definition_id, version)
);

-- A version that is retired counts no more. Append-only, as definitions are.
create table counter_retirement (
    definition_id integer not null,
    version integer not null,
    retired_at timestamptz not null,
    retired_by text not null,
    reason text not null,
    constraint counter_retirement_pkey primary key (definition_id, version)
);

create table counter_row (
    key text collate "C" not null,
    slot integer not null,
    writer bigint not null,
    count bigint not null,
    upto bigint not null,
    constraint counter_row_pkey primary key (key, slot, writer)
) partition by range (slot);

-- A partition holds the slots from `first`, up to and without `next`. It is dropped from the second `until` on.
create table counter_partition (
    first integer not null,
    next integer not null,
    until bigint not null,
    constraint counter_partition_pkey primary key (first)
);

-- A topic of one identity, as it is read by the live writers, whose `definition_id` and `part` are 0, or by a
-- backfill of a definition, whose part is the first, the second … that was asked for, from `begins_at` on. Rows
-- never change.
create table counter_series (
    series bigint not null,
    topic text collate "C" not null,
    identity text collate "C" not null,
    definition_id integer not null,
    definition_version integer not null,
    part integer not null,
    begins_at timestamptz,
    opened_at timestamptz not null,
    constraint counter_series_pkey primary key (series),
    constraint counter_series_of_key unique (topic, identity, definition_id, definition_version, part)
);

-- The offsets that a definition counts in a writer's partition: from `first` on, and for a backfill up to and
-- without `after`. A writer is a partition of a series: series * 65536 + partition. Rows never change.
create table counter_start (
    writer bigint not null,
    definition_id integer not null,
    definition_version integer not null,
    first bigint not null,
    after bigint,
    recorded_at timestamptz not null,
    constraint counter_start_pkey primary key (writer, definition_id, definition_version)
);

-- What a writer made of the events up to the offset `upto`, all of which are saved. `starts` is the number of rows
-- of `counter_start` for it: who knows of fewer cannot move `upto`.
create table counter_tally (
    writer bigint not null,
    upto bigint not null,
    starts integer not null,
    seen bigint not null,
    counted bigint not null,
    ignored bigint not null,
    repeated bigint not null,
    set_aside bigint not null,
    last_offset bigint,
    last_print text collate "C",
    moved_at timestamptz not null,
    constraint counter_tally_pkey primary key (writer)
);

create table counter_setting (
    name text collate "C" not null,
    value integer not null,
    set_at timestamptz not null,
    set_by text not null,
    constraint counter_setting_pkey primary key (name)
);

-- A version is never changed, and the latest is in force. The last few of each segment are kept.
create table segment_version (
    name text collate "C" not null,
    version integer not null,
    country text,
    how text not null,
    size integer not null,
    created_at timestamptz not null,
    created_by text not null,
    members bytea not null,
    constraint segment_version_pkey primary key (name, version)
);
alter table segment_version alter column members set storage external; -- compressed bitmaps

-- A number is given once, from `member_number_next`, whose row is locked until the number is committed: so no two
-- members have one number, without a unique key that does not begin with the member.
create table member_number (
    member_id text collate "C" not null,
    number integer not null,
    constraint member_number_pkey primary key (member_id)
);
create index member_number_number_idx on member_number (number);

create table member_number_next (
    of text collate "C" not null,
    next integer not null,
    constraint member_number_next_pkey primary key (of)
);

-- These numbers mean nobody any more, and never will again.
create table member_number_erased (
    number integer not null,
    constraint member_number_erased_pkey primary key (number)
);

-- Downstreams and campaigns.

-- The latest version is in force. A retired one keeps its document, by which campaigns were read.
create table downstream (
    name text collate "C" not null,
    version integer not null,
    document jsonb not null,
    retired boolean not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint downstream_pkey primary key (name, version)
);

-- A former secret signs beside the new one for a while.
create table downstream_secret (
    name text collate "C" not null,
    secret text not null,
    former_secret text,
    former_secret_until timestamptz,
    constraint downstream_secret_pkey primary key (name)
);

create table pace (
    receiver text not null,
    free_at timestamptz not null,
    constraint pace_pkey primary key (receiver)
);

-- A document is never changed. Of the versions of a campaign one at most is in force.
create table campaign (
    name text collate "C" not null,
    version integer not null,
    country text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    document jsonb not null,
    status text not null,
    drafted_at timestamptz not null,
    drafted_by text not null,
    changed_at timestamptz not null,
    changed_by text not null,
    approved_by text,
    approved_at timestamptz,
    reason text,
    constraint campaign_pkey primary key (name, version),
    constraint campaign_approved_check check (
        status in ('draft', 'submitted', 'ended') or approved_by is not null
    )
);
create index campaign_status_ends_at_idx on campaign (status, ends_at);
create unique index campaign_in_force on campaign (name) where status in ('approved', 'paused');

-- One row for each event that a campaign was decided for, kept for ever: no event is decided twice.
create table campaign_claim (
    key text collate "C" not null,
    member_id text collate "C" not null,
    campaign text collate "C" not null,
    version integer not null,
    decided_at timestamptz not null,
    constraint campaign_claim_pkey primary key (key)
);
create index campaign_claim_member_id_idx on campaign_claim (member_id);

-- Over the whole life of a campaign (no scope), a day, a week or a month. Marks are times in microseconds, eight
-- bytes each.
create table campaign_progress (
    member_id text collate "C" not null,
    campaign text collate "C" not null,
    scope text collate "C" not null,
    events bigint not null,
    runs bigint not null,
    points bigint not null,
    cost bigint not null,
    marks bytea not null,
    variant text,
    constraint campaign_progress_pkey primary key (member_id, campaign, scope)
);
create index campaign_progress_campaign_idx on campaign_progress (campaign) where variant is not null;

create table campaign_pot (
    campaign text collate "C" not null,
    period text collate "C" not null,
    runs bigint not null,
    points bigint not null,
    cost bigint not null,
    constraint campaign_pot_pkey primary key (campaign, period)
);

create table campaign_slot (
    campaign text collate "C" not null,
    period text collate "C" not null,
    slot integer not null,
    version integer not null,
    runs bigint not null,
    points bigint not null,
    cost bigint not null,
    constraint campaign_slot_pkey primary key (campaign, period, slot)
);

-- While a process is at an action, `due_at` is when another one may take it.
create table campaign_action (
    member_id text collate "C" not null,
    key text collate "C" not null,
    number integer not null,
    campaign text collate "C" not null,
    version integer not null,
    step integer not null,
    variant text,
    kind text not null,
    receiver text not null,
    decided_at timestamptz not null,
    due_at timestamptz not null,
    document json not null,
    event json,
    attempts integer not null default 0,
    failing_since timestamptz,
    done_at timestamptz,
    refused_at timestamptz,
    reason text,
    constraint campaign_action_pkey primary key (member_id, key, number)
);
create index campaign_action_receiver_due_at_idx on campaign_action (receiver, due_at)
    where done_at is null and refused_at is null;

-- What came of events, by day, arm and outcome; each process adds to rows of its own.
create table campaign_sum (
    campaign text collate "C" not null,
    version integer not null,
    day date not null,
    variant text collate "C" not null,
    outcome text collate "C" not null,
    slot integer not null,
    events bigint not null,
    points bigint not null,
    cost bigint not null,
    constraint campaign_sum_pkey primary key (campaign, version, day, variant, outcome, slot)
);

-- How many events were looked at, by hour; a country that is not told is empty. Each process adds to rows of its
-- own.
create table campaign_seen (
    source text collate "C" not null,
    type text collate "C" not null,
    country text collate "C" not null,
    hour timestamptz not null,
    slot integer not null,
    events bigint not null,
    constraint campaign_seen_pkey primary key (source, type, country, hour, slot)
);

-- The console.

create table console_session (
    prefix text collate "C" not null,
    person_id text collate "C" not null,
    digest bytea not null,
    way text not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    zone text not null,
    address text not null,
    browser text not null,
    ended_at timestamptz,
    ended_by text,
    constraint console_session_pkey primary key (prefix)
);
create index console_session_person_id_idx on console_session (person_id);

create table console_password (
    person_id text collate "C" not null,
    hash text not null,
    set_at timestamptz not null,
    set_by text not null,
    constraint console_password_pkey primary key (person_id)
);

-- `last_step` is the half minute of the last code that was used: none is used twice.
create table console_authenticator (
    person_id text collate "C" not null,
    secret text not null,
    set_at timestamptz not null,
    set_by text not null,
    last_step bigint not null,
    constraint console_authenticator_pkey primary key (person_id)
);

create table console_link (
    prefix text collate "C" not null,
    person_id text collate "C" not null,
    digest bytea not null,
    made_at timestamptz not null,
    made_by text not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    constraint console_link_pkey primary key (prefix)
);

-- A form whose room has no idempotency of its own leaves its key here, in the transaction of what it did.
create table console_form (
    key text collate "C" not null,
    person_id text collate "C" not null,
    done_at timestamptz not null,
    constraint console_form_pkey primary key (key)
);

-- `digest` is that of the token by which the command acts for the person. It holds while the errand runs.
create table console_errand (
    errand_id uuid not null,
    kind text collate "C" not null,
    subject text collate "C" not null,
    country text collate "C",
    command text not null,
    arguments text[] not null,
    papers text not null,
    keeps text[] not null,
    asked_by text collate "C" not null,
    asked_at timestamptz not null,
    state text collate "C" not null,
    runner uuid,
    token_prefix text collate "C",
    token_digest bytea,
    started_at timestamptz,
    seen_at timestamptz,
    ended_at timestamptz,
    progress text,
    exit_code integer,
    told text,
    output bytea,
    constraint console_errand_pkey primary key (errand_id)
);
create index console_errand_newest_idx on console_errand (kind, subject, asked_at desc);
create index console_errand_asked_at_idx on console_errand (asked_at desc, errand_id);
create index console_errand_open_idx on console_errand (asked_at) where state = 'waiting' or state = 'running';
create unique index console_errand_token_idx on console_errand (token_prefix);

create table console_errand_file (
    errand_id uuid not null,
    name text collate "C" not null,
    content bytea not null,
    constraint console_errand_file_pkey primary key (errand_id, name)
);

create table console_selection (
    selection_id uuid not null,
    chosen text not null,
    items text[] not null,
    made_by text collate "C" not null,
    made_at timestamptz not null,
    constraint console_selection_pkey primary key (selection_id)
);

-- Processes, their requests, and charts of what they did.

create table worker_process (
    process_id uuid not null,
    host text not null,
    pid integer not null,
    version text not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    report json not null,
    constraint worker_process_pkey primary key (process_id)
);

create unlogged table rate_limit (
    id text collate "C" not null,
    full_at timestamptz not null,
    constraint rate_limit_pkey primary key (id)
);

create table points_pulse (
    step text collate "C" not null,
    since timestamptz not null,
    country text collate "C" not null,
    within_s double precision not null,
    awards bigint not null,
    points bigint not null,
    constraint points_pulse_pkey primary key (step, since, country, within_s)
);

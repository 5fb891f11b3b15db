-- The history of a house: as many rows of each kind as its accounts make likely. `bench.accounts` has their number.
-- Documents that pages read are made by the doors beforehand, and multiplied here. Balances follow from the transfers,
-- hashes do not: no page reads them.

create function pg_temp.accounts() returns int stable language sql as
$$ select current_setting('bench.accounts')::int $$;

create function pg_temp.member(n bigint) returns text immutable language sql as
$$ select 'm' || lpad(n::text, 8, '0') $$;

-- The Philippines have one account of a thousand.
create function pg_temp.country(n bigint) returns text immutable language sql as $$
    select case when n % 1000 = 999 then 'PH'
        else (array['SG', 'SG', 'SG', 'SG', 'ID', 'ID', 'ID', 'TH', 'MY', 'VN'])[n % 10 + 1] end
$$;

-- The ledger: five transfers of each account within half a year, the fourth of which spends. One member has thousands.

insert into account (member_id, program, country, balance, held, earned_total, expires_on, last_seq, lots_drawn)
select pg_temp.member(n), 'GRP', pg_temp.country(n), 620, 0, 720, current_date + 180, 5, 100
from generate_series(0, pg_temp.accounts() - 1) as n;

insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    expires_on, explanation, xid, hash)
select pg_temp.member(n), 'GRP', s, case s when 4 then 'spend' else 'earn' end, case s when 4 then -100 else 180 end,
    180 * s - case when s > 3 then 280 else 0 end,
    (array['txn:rides:', 'txn:food:', 'txn:mart:', 'api:acme:', 'campaign:ride_00001:'])[s] || md5(n || '-' || s),
    pg_temp.country(n), at - interval '3 seconds', at, current_date + 180,
    (case s when 4 then '{"v":1,"points":-100,"reason":"a voucher","spent_by":"acme","available":440}' else
        '{"amount":"15.00","currency":"SGD","card":"SG@1","factors":[["vertical","food","2"],["eppf","SG","1"],'
        '["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}' end
    )::json,
    (4 + (s * pg_temp.accounts()::bigint + n) * 400 / (6 * pg_temp.accounts()::bigint))::text::xid8, sha256(int4send(n))
from generate_series(1, 5) as s cross join lateral generate_series(0, pg_temp.accounts() - 1) as n
cross join lateral (
    select now() - interval '180 days' + ((s - 1) + n::float8 / pg_temp.accounts()) * interval '36 days' as at
) t;

insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    expires_on, explanation, xid, hash)
select member_id, program, s, 'earn', 180, 620 + 180 * (s - 5), 'txn:rides:' || md5('busy-' || s), country,
    now() - (3006 - s) * interval '1 hour', now() - (3006 - s) * interval '1 hour', expires_on, explanation, xid, hash
from transfer t cross join generate_series(6, 3005) as s where t.member_id = pg_temp.member(0) and t.seq = 5;

update account set last_seq = 3005, balance = balance + 3000 * 180, earned_total = earned_total + 3000 * 180
where member_id = pg_temp.member(0);

insert into claim (key, member_id, program, seq, fingerprint) select key, member_id, program, seq, md5(key) from
    transfer;

insert into relay_cursor (topic, xid, member_id, program, seq, moved_at)
values ('abacus.points.v1', '380', '', '', 0, now() - interval '1 hour');

insert into account_tier (member_id, program, country, tier, until, last_seq, changes)
select pg_temp.member(n), 'GRP', pg_temp.country(n), case when n % 5 = 0 then 'silver' else 'member' end,
    case when n % 5 = 0 then current_date + 200 end, 5, (n % 5 = 0)::int
from generate_series(0, pg_temp.accounts() - 1) as n;

insert into tier_tally (member_id, program, starts_on, ends_on, until, earned, tier, threshold)
select pg_temp.member(n), 'GRP', date_trunc('year', now())::date, (date_trunc('year', now()) + interval '1 year')::date
    - 1,
    current_date + 365, 720, case when n % 5 = 0 then 'silver' else 'member' end, 0
from generate_series(0, pg_temp.accounts() - 1) as n;

insert into tier_change (member_id, program, n, country, from_tier, to_tier, reason, changed_at, published_at)
select pg_temp.member(n), 'GRP', 1, pg_temp.country(n), 'member', 'silver', 'upgrade', now() - interval '40 days', now()
from generate_series(0, pg_temp.accounts() - 1, 5) as n;

insert into hold (member_id, hold_id, program, country, points, until, status, held_by, placed_seq)
select pg_temp.member(n), gen_random_uuid(), 'GRP', pg_temp.country(n), 10, now() + interval '1 day', 'open', 'acme', 5
from generate_series(0, pg_temp.accounts() - 1, 20) as n;

insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at, sent_at, parked_at)
select pg_temp.member(n), 'n-' || n, 'log', 'en', '[{"kind":"earned"}]', now() - interval '1 day', now(),
    case when n % 100 > 0 then now() end, case when n % 100 = 0 then now() end
from generate_series(0, pg_temp.accounts() - 1, 2) as n;

-- Campaigns: one with arms, versions that ended beside those in force, and what they did.

insert into campaign (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by, changed_at,
    changed_by, approved_by, approved_at)
select 'armed', version, country, starts_at, ends_at,
    document || '{"name": "armed", "split": {"a": 45, "b": 45, "control": 10}, "goal": 1}', status, drafted_at,
    drafted_by, changed_at, changed_by, approved_by, approved_at
from campaign where name = 'ride_00000';

insert into campaign (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by, changed_at,
    changed_by, approved_by, approved_at, reason)
select 'past_' || k || '_' || name, version, country, starts_at - interval '60 days', ends_at - interval '60 days',
    jsonb_set(document, '{name}', to_jsonb('past_' || k || '_' || name)), 'ended', drafted_at, drafted_by, changed_at,
    changed_by, approved_by, approved_at, 'it was over'
from campaign cross join generate_series(1, 9) as k;

insert into campaign_sum (campaign, version, day, variant, outcome, slot, events, points, cost)
select c.name, 1, current_date - d, '', (array['done', 'counted', 'late'])[o], s, 100 + d, case o when 1 then 1000 else
    0 end, 0
from (select name from campaign where status = 'approved') c, generate_series(0, 29) d, generate_series(1, 3) o,
    generate_series(0, 3) s;

insert into limit_slot (owner_kind, owner, period, slot, version, runs, points, cost)
select 'campaign', name, '', s, 1, 1000, 10000, 0 from campaign, generate_series(0, 7) s where status = 'approved';

insert into campaign_claim (key, member_id, campaign, version, decided_at)
select 'event:rides:' || n, pg_temp.member(n), 'ride_00001', 1, now()
from generate_series(0, pg_temp.accounts() - 1) as n;

insert into campaign_progress (member_id, campaign, scope, events, runs, points, cost, marks, variant)
select pg_temp.member(n), 'ride_' || lpad((n % 300)::text, 5, '0'), '', 3, 1, 10, 0, '',
    case when n % 300 = 0 then (array['a', 'b'])[n / 300 % 2 + 1] end
from generate_series(0, pg_temp.accounts() - 1) as n;

insert into campaign_progress (member_id, campaign, scope, events, runs, points, cost, marks, variant)
select pg_temp.member(n), 'armed', '', 3, 1, 10, 0, '', (array['a', 'b', 'control'])[n / 5 % 3 + 1]
from generate_series(0, pg_temp.accounts() - 1, 5) as n;

-- Cards: a version a week.

insert into rate_card (scope, version, effective_from, document, published_at, published_by, approved_by)
select scope, version + k, effective_from + k * interval '7 days',
    jsonb_set(document, '{effective_from}', to_jsonb(((document ->> 'effective_from')::timestamptz + k * interval
    '7 days')::text)),
    published_at + k * interval '1 second', published_by, 'person:p001'
from rate_card cross join generate_series(1, 19) as k;

insert into assumption (program, country, version, effective_from, currency, expected_use, cost_per_point, set_at,
    set_by, reason)
select 'GRP', country, v, date '2025-01-01' + v * 30, 'SGD', 0.9, 0.01, now(), 'person:p001', 'As finance counted.'
from unnest(array['SG', 'ID', 'TH', 'MY', 'VN', 'PH']) as country, generate_series(1, 20) as v;

-- Partners.

insert into partner (partner_id, name, fixed_points, computed_points, countries, requests_per_minute, created_at,
    created_by)
select 'partner-' || k, 'Partner ' || k, true, true, array['SG'], 1000, now(), 'person:p001' from generate_series(1,
    300) as k;

insert into allowance (partner_id, per_day, in_total, used, day, used_that_day)
select 'partner-' || k, 100000, 10000000, 5000, current_date, 50 from generate_series(1, 300) as k;

insert into partner_key (prefix, partner_id, digest, created_at)
select 'abl_bench' || k || '_' || i, 'partner-' || k, sha256(int4send(k)), now() from generate_series(1, 300) as k,
    generate_series(1, 2) as i;

insert into partner_request (partner_id, at, noted_id, request_id, mode, method, path, status, took_s)
select case when n % 2 = 0 then 'acme' else 'partner-' || n % 300 + 1 end, now() - n * interval '1 second',
    gen_random_uuid(), 'r-' || n, 'live', 'POST',
    '/v1/awards', case when n % 50 = 0 then 422 else 202 end, 0.01
from generate_series(0, pg_temp.accounts() / 4) as n;

insert into partner_award (award_id, key, partner_id, member_id, program, country, points, occurred_at, expires_on,
    activity, fingerprint, explanation, asked_at, queued_at)
select gen_random_uuid(), 'api:acme:' || n, 'acme', pg_temp.member(n), 'GRP', pg_temp.country(n), 10, now(),
    current_date + 100, true,
    md5(n::text), '{}', now(), now()
from generate_series(0, pg_temp.accounts() - 1, 5) as n;

insert into rejection (key, member_id, program, points, fingerprint, reason, detail, rejected_at)
select 'api:acme:refused-' || n, pg_temp.member(n), 'GRP', 10, md5(n::text), 'over-limit', 'over the limit of a day',
    now()
from generate_series(0, pg_temp.accounts() - 1, 100) as n;

insert into webhook_delivery (message_id, partner_id, type, body, created_at, attempts, due_at, retry_until,
    delivered_at,
    given_up_at, last_status, member_id)
select 'w-' || n, case when n % 20 = 0 then 'acme' else 'partner-' || n % 300 + 1 end, 'award.posted', '{}', now() -
    interval '1 hour', 1, now(),
    now() + interval '3 days', case when n % 50 > 0 then now() - n * interval '1 second' end, case when n % 100 = 0
    then now() end, 200,
    pg_temp.member(n)
from generate_series(0, pg_temp.accounts() / 4) as n;

-- People, what they asked for and did.

insert into person (person_id, grants, created_at, created_by)
select 'p' || lpad(k::text, 3, '0'), array[(array['viewer', 'support', 'country_editor', 'approver', 'finance'])[k % 5
    + 1] || ':' || pg_temp.country(k)],
    now() - interval '1 year', 'login:benchmark' from generate_series(1, 300) as k;

insert into person_token (prefix, person_id, digest, created_at, created_by, expires_at)
select 'abp_bench' || k, 'p' || lpad((k % 300 + 1)::text, 3, '0'), sha256(int4send(k)), now(), 'login:benchmark', now()
    + interval '90 days'
from generate_series(1, 900) as k;

insert into console_session (prefix, person_id, digest, way, started_at, seen_at, zone, address, browser)
select 'bench' || k, 'p' || lpad((k % 300 + 1)::text, 3, '0'), sha256(int4send(k)), 'password', now() - k * interval
    '6 minutes', now() - k * interval '6 minutes', 'UTC',
    '192.0.2.1', 'a browser' from generate_series(1, 7000) as k;

insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at, status,
    decided_by, decided_at)
select gen_random_uuid(), 'adjustment', 'adjust:' || n, pg_temp.country(n * 7), '+500 for a member',
    json_build_object('key', 'adjust:' || n, 'member_id', pg_temp.member(n * 7 % pg_temp.accounts()), 'program', 'GRP',
    'country',
        pg_temp.country(n * 7), 'points', 500, 'occurred_at', '2026-01-01T00:00:00+00:00', 'expires_on', '2027-01-01',
        'reason', 'a late delivery')::text,
    encode(sha256(int4send(n)), 'hex'), 'person:p' || lpad((n % 300 + 1)::text, 3, '0'), now() - n * interval
    '10 minutes',
    case when n < 300 then 'pending' when n % 10 = 0 then 'rejected' else 'done' end, case when n >= 300 then
    'person:zoe' end, case when n >= 300 then now() end
from generate_series(0, pg_temp.accounts() / 20 - 1) as n;

insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at)
select '00000000-0000-4000-8000-0000000000c1', 'campaign', 'ride_00001@2', country, 'ride_00001@2',
    json_build_object('campaign', document, 'version', 2)::text, encode(sha256(int4send(-1)), 'hex'), 'person:p002',
    now()
from campaign where name = 'ride_00001';

insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at)
select '00000000-0000-4000-8000-0000000000c2', 'rate_card', scope, scope, 'a card',
    jsonb_set(document, '{effective_from}', to_jsonb((now() + interval '30 days')::text))::text,
    encode(sha256(int4send(-2)), 'hex'), 'person:p002', now()
from rate_card where scope = 'SG' and version = 1;

insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at)
select '00000000-0000-4000-8000-0000000000c3', kind, 'adjust:c3', country, summary, document,
    encode(sha256(int4send(-3)), 'hex'), 'person:p002', now()
from approval where subject = 'adjust:1';

alter table audit_log disable trigger user;

insert into audit_log (entry_id, at, actor, authenticated, deed, subject, country, details, number, hash)
select gen_random_uuid(), now() - n * 365 * interval '1 day' / pg_temp.accounts() * 2, 'person:p' || lpad((n % 299 +
    1)::text, 3, '0'), true,
    (array['sign-in', 'sign-in', 'adjust', 'approve', 'see', 'move-points', 'sign-in', 'edit-campaigns', 'run-jobs',
    'replay'])[n % 10 + 1], 'member:' || pg_temp.member(n), pg_temp.country(n),
    '{"did":"ask","points":500,"reason":"a late delivery"}', 1000000 + n, sha256(int4send(n))
from generate_series(1, pg_temp.accounts() / 2) as n;

insert into audit_log (entry_id, at, actor, authenticated, deed, subject, details, number, hash)
select gen_random_uuid(), now() - n * interval '3 hours', 'person:p001', true, 'manage-people', 'person:p' || lpad((n %
    299 + 1)::text, 3, '0'), '{"did":"link"}', 9000000 + n, sha256(int4send(n))
from generate_series(1, 3000) as n;

alter table audit_log enable trigger user;

insert into console_errand (errand_id, kind, subject, country, command, arguments, papers, keeps, asked_by, asked_at,
    state, ended_at, exit_code, output)
select gen_random_uuid(), 'campaign-backtest', 'ride_' || lpad((n % 300)::text, 5, '0') || ' ' || n,
    pg_temp.country(n), 'abacus campaigns backtest', array['campaigns', 'backtest'], '{}', array[]::text[], 'p001',
    now() - n * interval '4 minutes', 'done', now(), 0, '{"rows":[]}'
from generate_series(1, 10000) as n;

insert into console_draft (draft_id, kind, title, country, text, owner, saved_at)
select case when k = 1 then uuid '00000000-0000-4000-8000-0000000000d1' else gen_random_uuid() end, 'campaigns',
    'draft_' || k, pg_temp.country(k), $toml$name = "market"
country = "SG"
timezone = "Asia/Singapore"
starts_at = 2026-01-01T00:00:00+08:00
ends_at = 2036-01-01T00:00:00+08:00
on = ["transactions/transaction.completed"]

[[steps]]
[[steps.do]]
award = { points = 5 }

[limits]
runs = { overall = 10 }
$toml$, 'p' || lpad((k % 300 + 1)::text, 3, '0'), now() - k * interval '1 hour'
from generate_series(1, 3000) as k;

insert into downstream (name, version, document, retired, published_at, published_by)
select name, 1, jsonb_build_object('name', name, 'kind', 'webhook', 'url', 'https://coupons.example/hook'), false,
    now(), 'person:p001'
from (select 'coupons' || case when k > 1 then '_' || k else '' end from generate_series(1, 40) as k) d (name);

-- What was set aside, sealed, closed and erased.

insert into quarantine (id, stage, origin, reason, detail, body, key, status, set_aside_at, replays)
select md5('q' || n), 'transaction', 'kafka:t/0/' || n, (array['unknown-tier', 'invalid', 'no-card-in-force'])[n % 3 +
    1], 'no such tier',
    convert_to(format('{"type":"transaction.completed","source":"food","transaction_id":"T-%s","member_id":"%s",'
        '"country":"%s","vertical":"food","payment_type":"wallet","amount":"20.00","currency":"SGD",'
        '"occurred_at":"2026-01-01T00:00:00+00:00"}', n, pg_temp.member(n), pg_temp.country(n)), 'UTF8'),
    'txn:food:T-' || n, case when n % 5 < 2 then 'held' else 'replayed' end, now() - n * interval '5 minutes', 1
from generate_series(1, pg_temp.accounts() / 20) as n;

insert into seal (number, sealed_at, accounts, transfers, root, snapshot, previous, hash, published_at)
select k, now() - (401 - k) * interval '1 day', 1000, 5000, sha256(int4send(k)), '1:1:', sha256(int4send(k - 1)),
    sha256(int4send(k)), now()
from generate_series(1, 400) as k;

insert into month_close (month, number, act, signed_by, signed_at, reason, files, accepted)
select to_char(now() - (25 - k) * interval '1 month', 'YYYY-MM'), 1, 'closed', 'person:p001', now(), 'closed',
    '{"journal.csv":"00"}', '[]'
from generate_series(1, 24) as k;

insert into erasure (pseudonym, erased_at, erased_by, reason, accounts, rows)
select 'erased-' || n, now() - n * interval '1 hour', 'person:p001', 'asked for',
    '[{"program":"GRP","transfers":5,"balance":620,"head_before":"00","head_after":"01"}]', '{"transfer":5}'
from generate_series(1, pg_temp.accounts() / 200) as n;

insert into points_pulse
select step, since, country, within_s, 100, 1000
from (values ('minute', interval '6 hours', interval '1 minute'), ('quarter', interval '35 days', interval
    '15 minutes')) as each (step, back, every)
cross join lateral generate_series(date_trunc('hour', now()) - back, now(), every) as since,
    unnest(array['SG', 'ID', 'TH', 'MY', 'VN', 'PH']) as country, unnest(array[0.1, 0.2, 0.3, 0.5, 1, 10]) as within_s;

insert into exchange_programme (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by,
    changed_at, changed_by, approved_by, approved_at)
values ('skymiles', 1, 'SG', '2026-01-01', '2036-01-01', '{"name": "skymiles", "country": "SG",
    "timezone": "Asia/Singapore", "starts_at": "2026-01-01T00:00:00+08:00", "ends_at": "2036-01-01T00:00:00+08:00",
    "partner": "acme", "program": "GRP", "unit": "miles", "out": {"give": 5, "get": 2, "minimum": 1000,
    "multiple": 500, "maximum": 100000, "price": "0.012"}, "carrier": {"url": "https://loyalty.acme.example/abacus"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"}}', 'approved', now(), 'person:p001', now(),
    'person:p001', 'person:p002', now());

insert into exchange_link (link_id, programme, partner, member_id, digest, number, shown, state, asked_at, asked_by,
    verified_at, usable_from)
select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'skymiles', 'acme', pg_temp.member(n),
    sha256(int4send(n)), 'x', '…' || lpad((n % 10000)::text, 4, '0'), 'verified', now(), 'acme', now(), now()
from generate_series(1, pg_temp.accounts() / 20) as n;

insert into exchange (exchange_id, direction, programme, version, partner, member_id, program, country, link_id, points,
    theirs, fee, key, fingerprint, actor, source, state, reason, quoted_at, expires_at, asked_at, sent_at, credited_at,
    ended_at, changed_at, late_at, attempts, turns)
select ('00000000-0000-4000-8001-' || lpad(n::text, 12, '0'))::uuid, 'out', 'skymiles', 1, 'acme', pg_temp.member(n),
    'GRP', 'SG', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 2500, 1000, 0, 'acme:' || n, '', 'acme',
    'partner:acme', state, case when state = 'aside' then 'other-amount' end, at, at, at, at,
    case when state = 'captured' then at end, case when state in ('captured', 'released') then at end, at,
    at + interval '1 day', 1, 1
from generate_series(1, pg_temp.accounts() / 20) as n,
    lateral (select now() - n * interval '1 minute' as at,
        case when n % 500 = 0 then 'aside' when n % 50 = 0 then 'unknown' when n % 10 = 0 then 'released'
            else 'captured' end as state) as stands;

insert into exchange_turn (exchange_id, n, state, at, by)
select exchange_id, 1, state, changed_at, 'exchanger' from exchange;

insert into exchange_break (break_id, programme, country, kind, about, exchange_id, ours, theirs, found_at)
select ('00000000-0000-4000-8002-' || lpad(n::text, 12, '0'))::uuid, 'skymiles', 'SG', 'amount', n::text,
    ('00000000-0000-4000-8001-' || lpad(n::text, 12, '0'))::uuid, 'captured, 1000', 'credited, 999',
    now() - n * interval '1 hour'
from generate_series(1, 200) as n;

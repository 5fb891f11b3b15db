"""For the tests of erasure: a member who stands everywhere, and a search through every column there is."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Final

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import award_id
from abacus.core.sources import Agent
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.preferences import PreferenceStore
from abacus.engage.offers.invitations import InvitationStore
from abacus.ledger.decide.opening_balance import OpeningBalance, Origin
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Alone, Limits, Sums
from abacus.ledger.types.movement import Adjustment, Moved, Movement, Reserve, Reversal, Spend
from abacus.ledger.types.port import Status
from abacus.oversight.erasure.erase import Eraser, Erasure
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.store.audit import write as write_entries
from abacus.people.store.chain import digest_of_erased
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool, nothing_else
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import AWARD_QUEUE, Item, Stage
from abacus.platform.slices import slice_of
from abacus.pricing.decide.card import OnShortfall
from abacus.programs.expiry.decide.envelope import Envelope, encode_envelope
from abacus.programs.expiry.decide.month import Month
from abacus.programs.opening.decide.batch import Staged, open_all, sort_out
from abacus.programs.tiers.store import MembershipStore
from tests.ledger.ledgers import OpenPostgresLedger, award
from tests.support.fixed_clock import FixedClock

NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
CLOCK: Final = FixedClock(NOW)
GRANT: Final = b'{"card":"SG@1","granted_by":"acme","reason":"sorry, %b","points":%d}'
OLD: Final = Origin("oldsystem", "alice")


def granted(key: str, points: int = 10, **changes: object) -> Award:
    granted_to = award(key=key, points=points, activity=False, **changes)
    return granted_to._replace(explanation=GRANT % (granted_to.member_id.encode(), points))


async def bring(pool: Pool, opening: OpeningBalance) -> None:
    """Write an opening balance as an import does."""

    async def work(connection: Connection) -> None:
        locked = await lock_accounts(connection, await begin_posting(connection), [opening[:2]])
        new = sort_out([Staged(1, OLD.key(opening), opening)], {}, OLD).new
        openings = open_all(new, locked.accounts, OLD, NOW)
        await write(connection, locked, openings.accounts, openings.claims, openings.transfers)

    await in_a_transaction((await slice_of(pool, opening.member_id)).across, work)


async def live(pool: Pool, member: str) -> None:
    """A life: points in two programs from everywhere, a limit that was met, a tier, wishes, messages, and trouble."""
    ledger = OpenPostgresLedger(pool, CLOCK)
    if not await pool.fetchval("select exists(select from allowance)"):
        await ledger.allow("acme", Limits(per_award=100))
    await bring(pool, OpeningBalance(member, "GRP", "SG", 500, date(2027, 6, 30)))
    await ledger.post([granted(f"txn:rides:{member[:1]}{number}", member_id=member) for number in range(3)])
    await ledger.post(
        [
            granted(f"api:acme:{member[:1]}1", member_id=member, program="OVO"),
            granted(f"api:acme:{member[:1]}2", 101, member_id=member),
        ]
    )
    await _moves(pool, member)
    set_ = entry_of("login:alice", Deed.SET_TIERS, f"member:{member}", NOW, did="set", program="GRP", tier="gold")
    await MembershipStore(pool, CLOCK).set(
        (member, "GRP"), "gold", reason=f"{member} asked", actor="alice", also=with_entry(nothing_else, set_)
    )
    await pool.execute("insert into member_number select $1, count(*) from member_number", member)
    await PreferenceStore(pool, CLOCK).set(member, locale="id", channels=[ChannelName.LOG], by="acme")
    await pool.execute(
        "insert into tier_tally values ($1, 'GRP', '2026-01-01', '2026-06-30', '2026-12-31', 30, 'member', 0)", member
    )
    await pool.execute(
        "insert into notice (member_id, event_id, happened_at, seq, part, due_at) values ($1, $2, $3, 1, '{}', $3)",
        member,
        f"{member}:GRP:1",
        NOW,
    )
    await pool.execute(
        "insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at)"
        " values ($1, $2, 'log', 'en', '[]', $3, $3)",
        member,
        f"m-{member}",
        NOW,
    )
    await pool.execute("insert into message_count values ($1, 'log', 'marketing', $2, 1)", member, NOW.date())
    await pool.execute(
        "insert into untold_message values ($1, $2, 'log', 'marketing', 'market', 'cap', 'over the cap', $3, $3)",
        member,
        f"{member}:GRP:1",
        NOW,
    )
    key = f"campaign:market:transactions:transaction.completed:mart:{member[:1]}1"
    await pool.execute("insert into campaign_claim values ($1, $2, 'market', 1, $3)", key, member, NOW)
    await InvitationStore(pool).add(1, [member])
    await pool.execute("insert into offer_gift values ($1, $2, 2, $3)", member, f"redemption:{member[:1]}", NOW)
    await pool.execute("insert into campaign_progress values ($1, 'market', '', 1, 1, 500, 0, '', 'a')", member)
    await pool.execute(
        "insert into action (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at,"
        " due_at, document, event) values ($1, $2, 0, 'campaign', 'market', 1, 1, 'tell', 'messages', $3, $3, $4, $4)",
        member,
        f"{key}:1",
        NOW,
        json.dumps({"member_id": member}).encode(),
    )
    await pool.execute(
        "insert into seat (member_id, journey, visit, member, version, key, country, entered_at, since, context)"
        " values ($1, 'welcome', 1, 1, 1, 'api:acme:1', 'SG', $2, $2, $3)",
        member,
        NOW,
        json.dumps({"member_id": member}).encode(),
    )
    await _exchanged(pool, member)
    await pool.execute("insert into member_region values ($1, 'orchard', true, $2, $2, $2)", member, NOW)
    await pool.execute(
        "insert into journey_refusal values ($1, 'welcome', 1, $2, 'the rule does not hold', null)", member, NOW
    )
    await pool.execute(
        "insert into journey_deed_aside values ($1, 'welcome', 1, 3, 0, 1, 1, null, $2, $3, $2)",
        member,
        NOW,
        f"a bug with {member}",
    )
    await pool.execute(
        "insert into journey_entry_aside values ($1, 'welcome', $2, 1, $3, null, null, 1, $3, 'a bug', $3)",
        member,
        f"e-{member}",
        NOW,
    )
    async with (await slice_of(pool, member)).at() as connection:
        await connection.execute(
            "insert into pack_aside select 'welcome', count(*), true, $1, 1, 2, 0, 'UTC', null, '{1}', '{1}', $2, $1"
            " from pack_aside",
            NOW,
            f"a bug with {member}",
        )
    await _offers(pool, member)
    await _rewards(pool, member)
    for number, delivered in enumerate((NOW, None)):
        await pool.execute(
            "insert into webhook_delivery (message_id, partner_id, member_id, type, body, created_at, due_at,"
            " retry_until, delivered_at) values ($1, 'acme', $5, 'award.posted', $2, $3, $3, $3, $4)",
            f"msg_{member[:1]}{number}",
            json.dumps({"type": "award.posted", "data": {"member_id": member}}),
            NOW,
            delivered,
            member,
        )
    await _trouble(pool, member)
    await _month_end(pool, member)


async def _offers(pool: Pool, member: str) -> None:
    """An offer was held and redeemed for a basket that names the member."""
    key, basket = f"reservation:acme:{member[:1]}", json.dumps([{"note": member}]).encode()
    await pool.execute("insert into offer_taker values ($1, 'lunch_20')", member)
    await pool.execute(
        "insert into offer_reservation values ($1, $2, gen_random_uuid(), 'lunch_20', 1, 'SG', 'partner:acme', '0', $3,"
        " 'SGD', 1, 0, 1, $5, 0, $4, $4, 'redeemed', $4)",
        key,
        member,
        basket,
        NOW,
        NOW.date(),
    )
    await pool.execute(
        "insert into offer_redemption (member_id, redemption_id, reservation_key, offer, version, country, caller,"
        " items, currency, saves, points, redeemed_at, saves_back, points_back, rollbacks)"
        " values ($1, gen_random_uuid(), $2, 'lunch_20', 1, 'SG', 'partner:acme', $3, 'SGD', 1, 0, $4, 0, 0, '[]')",
        member,
        key,
        basket,
        NOW,
    )


async def _exchanged(pool: Pool, member: str) -> None:
    """An exchange that has ended, with its trail, and the link that it went by."""
    exchange_id = award_id(f"exchange:{member}")
    await pool.execute(
        "insert into exchange (exchange_id, direction, programme, version, partner, member_id, program, country,"
        " link_id, points, theirs, fee, fingerprint, actor, source, state, detail, quoted_at, expires_at, asked_at,"
        " ended_at, changed_at, attempts, turns) values ($1, 'out', 'skymiles', 1, 'skyways', $2, 'GRP', 'SG', $1, 60,"
        " 25, 0, '', 'acme', 'partner:acme', 'captured', $3, $4, $4, $4, $4, $4, 1, 1)",
        *(exchange_id, member, f"for {member}", NOW),
    )
    await pool.execute(
        "insert into exchange_turn values ($1, 1, 'captured', $2, 'acme', null, $3)", exchange_id, NOW, f"for {member}"
    )
    await pool.execute(
        "insert into exchange_link (link_id, programme, partner, member_id, digest, number, holder, shown, state,"
        " asked_at, asked_by, way, verifier, redirect_uri) values"
        " ($1, 'skymiles', 'skyways', $2, $3, $2, $2, $2, 'verified', $4, 'acme', 'oauth', $2, $2)",
        *(exchange_id, member, member.encode(), NOW),
    )
    await pool.execute(
        "insert into exchange_link_attempt values ('2026-03-01', 'member:' || $1::text, 1),"
        " ('2026-03-01', 'number:' || $2, 1)",
        *(member, member.encode().hex()),
    )


async def _rewards(pool: Pool, member: str) -> None:
    """A reward was redeemed for a code, and a person cancelled another one with a word about the member."""
    for mark, detail in (("a", None), ("b", f"{member} rang")):
        redemption_id = award_id(f"redemption:api:acme:{member[:1]}{mark}")
        await pool.execute(
            "insert into reward_redemption values ($1, $2, 'f', $3, 'GRP', 'SG', 'coffee', 1, 1, 5, 0, $4, 'tea', null,"
            " null, null, 'acme', 'partner:acme', 'given', null, $5, $6, $6)",
            f"api:acme:{member[:1]}{mark}",
            redemption_id,
            member,
            NOW.date(),
            detail,
            NOW,
        )
        await pool.execute(
            "insert into reward_code select 'tea', count(*) + 1, $1, $2, $3 from reward_code",
            f"{member[:1]}{mark}".encode(),
            f"for {member}",
            redemption_id,
        )


ACME = Agent("acme", "partner:acme")
ALICE = Agent("alice", "person:alice")


async def _moves(pool: Pool, member: str) -> None:
    """Some points are spent, some held, some taken back, and somebody wants to add some."""
    mark, until, day = member[:1], NOW + timedelta(days=1), date(2027, 5, 31)
    account, facts = (member, "GRP", "SG"), "0" * 16
    taken_back = OLD.key(OpeningBalance(member, "GRP", "SG", 500, None))
    policy, why = OnShortfall.NEGATIVE, f"{member} left"
    moved = await PostgresMoves(pool, CLOCK).move(
        [
            Spend(f"api:acme:{mark}-s", *account, facts, 20, f"{member} bought", *ACME),
            Reserve(f"api:acme:{mark}-h", *account, facts, 5, "a table", *ACME, award_id(mark), until),
            Reversal(
                f"ops:{mark}",
                *account,
                facts,
                taken_back,
                7,
                policy,
                "SG@1",
                why,
                *ALICE,
                NOW,
                day,
                lifetime=False,
                sums=Sums(),
            ),
        ]
    )
    assert {each.status for each in moved} == {Status.POSTED}
    adjustment = Adjustment(
        f"adjust:{mark}", *account, facts, 9000, f"{member} rang", *ALICE, None, day, lifetime=False
    )
    await LargeMoves(Approvals(pool, CLOCK), _refusing, Alone(100, 100)).do(adjustment)


async def _refusing(_: Movement) -> Moved:
    raise AssertionError("what is pending is not posted")


async def _trouble(pool: Pool, member: str) -> None:
    fault = SetAside(Reason.INVALID, f"member_id: not {member!r}")
    facts = {"member_id": member, "amount": "5"}
    both = {"v": 1, "awards": [facts, {"member_id": "somebody"}]}
    await QuarantineStore(pool, CLOCK).add(
        [
            Item.of(Stage.TRANSACTION, "t:0:1", json.dumps(facts).encode(), fault),
            Item.of(Stage.TRANSACTION, "t:0:2", b'{"member_id":"' + member.encode(), fault),
            Item.of(Stage.ENVELOPE, AWARD_QUEUE, json.dumps(both).encode(), fault),
            Item.of(Stage.TRANSACTION, "t:0:3", b'{"member_id":"somebody","amount":"?"}', fault),
        ]
    )


async def _month_end(pool: Pool, member: str) -> None:
    envelope = Envelope("SG", Month(2026, 10), 1, NOW, ((member, "GRP"), ("somebody", "GRP")))
    await pool.execute(
        "insert into expiry_run (country, month, last_day, lapsed_at, started_at, swept_at, found_day, found_member,"
        " found_program) values ('SG', $1, '2026-10-31', $2, $2, $2, '2026-10-31', $3, 'GRP')",
        f"2026-10{member[:1]}",
        NOW,
        member,
    )
    await pool.execute(
        "insert into expiry_batch (country, month, number, accounts, body) values ('SG', $1, 1, 2, $2)",
        f"2026-10{member[:1]}",
        encode_envelope(envelope),
    )


async def naming(owner: Pool, member: str) -> list[str]:
    """Every column of every table, or view over slices, that holds the id anywhere, whatever its type."""
    columns = await owner.fetch(
        "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'"
    )
    places = []
    for table, column, type_ in columns:
        text = f"encode({column}, 'escape')" if type_ == "bytea" else f"{column}::text"
        if await owner.fetchval(f"select exists(select from {table} where position($1 in {text}) > 0)", member):
            places.append(f"{table}.{column}")
    return sorted(places)


async def rest(owner: Pool, *without: str) -> dict[str, list[str]]:
    """All rows of all tables, and views over slices, as text, without those that name one of these members."""
    tables = await owner.fetch(
        "select table_name from information_schema.tables where table_schema = 'public' order by 1"
    )
    content = {}
    for (table,) in tables:
        rows = await owner.fetch(f"select r::text from {table} r order by 1")
        content[table] = [row[0] for row in rows if not any(name in row[0] for name in without)]
    return content


def eraser(owner: Pool) -> Eraser:
    return Eraser(owner, CLOCK, lambda _: None)


async def noted(connection: Connection, erasure: Erasure) -> None:
    """The entry of the log, as the command writes it."""
    subject = f"member:{erasure.pseudonym}"
    left = await digest_of_erased(connection, subject)
    await write_entries(connection, [entry_of("login:alice", Deed.ERASE, subject, NOW, left=left)])


async def accounts(pool: Pool, member: str) -> list[Account]:
    rows = await pool.fetch(
        f"select {', '.join(Account._fields)} from account where member_id = $1 order by program", member
    )
    return [Account(*row) for row in rows]

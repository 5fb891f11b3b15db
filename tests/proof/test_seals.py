"""Seals on Postgres: making them, checking old ones, proofs, publishing; and their commands."""

import asyncio
import json
import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.engage.notify.decide.notice import heard
from abacus.engage.notify.metrics import NOTICES
from abacus.intake.partners.metrics import WEBHOOKS
from abacus.intake.partners.webhooks.decide.message import posted
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from abacus.platform.slices import SliceMap
from abacus.programs.tiers.decide.heard import heard_in
from abacus.programs.tiers.metrics import TIER_EVENTS
from abacus.proof import store as module
from abacus.proof.decide.merkle import Tree
from abacus.proof.decide.seal import CURRENT, Head, Seal, Sealed, over_slices
from abacus.proof.decide.seal_event import KEY, LedgerSealed, encode_sealed
from abacus.proof.publish_seals import seal_publisher
from abacus.proof.store import Seals
from abacus.proof.tree import Grown, grow
from abacus.proof.verify import verify
from tests.proof.reported import in_its_slice
from tests.proof.reported import renamed as other_name
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, until
from tests.support.neighbours import neighbours_are_through
from tests.support.points_broker import Relays
from tests.support.sealing import NOW, RECHECK, earned, fill, tampering
from tests.support.slices import SLICES
from tests.support.stepping import one_step

MEMBERS = ["adam", "bob", "eve"]
TOPIC = "points"


async def root_of(pool: Pool) -> bytes:
    """The root over the accounts as they stand now, without the transfers; where the ledger is cut, over its slices."""
    slice_map, slices = SliceMap(SLICES), list[Sealed]()
    for number in range(SLICES):
        tree, transfers = Tree(), 0
        async with pool.acquire(schema=slice_map.schema_of(number)) as connection:
            rows = await connection.fetch(
                "select member_id, program, last_seq, balance, head_hash from account where last_seq > 0 order by 1, 2"
            )
        for row in rows:
            tree.add(Head(*row).leaf(CURRENT))
            transfers += row["last_seq"]
        slices.append(Sealed(tree.size, transfers, tree.root()))
    return over_slices(slices).root


async def test_a_seal_is_over_every_account_as_it_stands(pool: Pool) -> None:
    seals = Seals(pool, SystemClock())
    nothing = (await seals.make()).seal
    assert (nothing.number, nothing.accounts, nothing.transfers, nothing.previous) == (1, 0, 0, b"")
    await fill(pool, *MEMBERS)
    await PostgresLedger(pool, SystemClock()).post([earned("bob", 9, program="OVO")])
    await neighbours_are_through(pool)
    made = (await seals.make()).seal
    assert made == Seal(
        2, made.sealed_at, 4, 10, await root_of(pool), made.snapshot, nothing.hash, made.hash, 2, 0, b""
    )
    assert await seals.all() == [nothing, made]


async def test_an_old_seal_is_found_again_when_accounts_have_moved_on(pool: Pool) -> None:
    seals, roots = Seals(pool, SystemClock()), []
    for round_ in range(4):
        await fill(pool, *(f"m{number}" for number in range(round_, 3 * round_ + 5)), transfers=1)
        roots.append(await root_of(pool))
        await seals.make()
    assert [seal.root for seal in await seals.all()] == roots
    assert len(set(roots)) == 4
    report = await verify(pool, RECHECK, seals=None)
    assert (report.faults, report.seals) == ([], [1, 2, 3, 4])
    assert (await verify(pool, RECHECK, seals=2)).seals == [3, 4]


@pytest.mark.skipif(SLICES > 1, reason="writers of a slice wait for each other: tests/ledger/slices/test_slices.py")
async def test_a_transaction_that_is_open_while_the_seal_is_made(pool: Pool, database_url: str) -> None:
    """An open transaction has an id, and a later one is committed: this seal has neither, the next one has both."""
    await fill(pool, "bob")
    open_ = await asyncpg.connect(database_url)
    try:
        transaction = open_.transaction()
        await transaction.start()
        await open_.execute(
            "insert into transfer select 'aaron', program, seq, kind, points, balance_after, key || '-a', country,"
            " occurred_at, posted_at, expires_on, explanation, reverses, actor, pg_current_xact_id(), hash"
            " from transfer"
        )
        await open_.execute("insert into account (member_id, program, country) values ('aaron', 'GRP', 'SG')")
        await fill(pool, "eve")
        made = (await Seals(pool, SystemClock()).make()).seal
        await transaction.commit()
    finally:
        await open_.close()
    assert (made.accounts, made.transfers) == (1, 3)
    following = (await Seals(pool, SystemClock()).make()).seal
    assert (following.accounts, following.transfers) == (3, 9)
    assert not [fault for fault in (await verify(pool, RECHECK)).faults if str(fault).startswith("seal")]
    proof = await Seals(pool, SystemClock()).prove(("eve", "GRP"))
    assert (proof.seq, proof.fault(following.root.hex())) == (3, None)


async def test_seals_made_while_points_are_posted_hold_for_ever(pool: Pool) -> None:
    chance, posted, stop = random.Random(1), asyncio.Event(), asyncio.Event()

    async def post() -> None:
        while not stop.is_set():
            await fill(pool, *chance.sample([f"m{number}" for number in range(30)], 5), transfers=1)
            posted.set()

    poster = asyncio.create_task(post())
    seals = Seals(pool, SystemClock())
    for _ in range(8):
        await asyncio.wait_for(posted.wait(), 30)
        posted.clear()
        await seals.make()
    stop.set()
    await poster
    report = await verify(pool, RECHECK, seals=None)
    assert (report.faults, len(report.seals)) == ([], 8)
    assert len({seal.transfers for seal in await seals.all()}) > 2


async def test_one_seal_at_a_time_and_not_too_often(pool: Pool, database_url: str) -> None:
    clock = FixedClock(NOW)
    seals = Seals(pool, clock)
    first = await seals.make()
    clock.set(NOW + timedelta(hours=3))
    assert await seals.make(if_older_than=timedelta(hours=4)) == (first.seal, False)
    assert (await seals.make(if_older_than=timedelta(hours=3))).is_new
    other = await asyncpg.connect(database_url)
    try:
        await other.execute("select pg_advisory_lock(hashtext('abacus ledger seal'))")
        with pytest.raises(Refused, match="a seal is being made already"):
            await seals.make()
    finally:
        await other.close()


@pytest.mark.parametrize("member", MEMBERS)
async def test_an_account_is_proven_by_an_old_seal(pool: Pool, member: str) -> None:
    seals = Seals(pool, SystemClock())
    await fill(pool, *MEMBERS)
    made = (await seals.make()).seal
    await fill(pool, "adam", "bob", "carl")
    proof = await seals.prove((member, "GRP"), 1)
    assert (proof.seq, proof.index, proof.fault(made.root.hex())) == (3, in_its_slice(member, MEMBERS), None)
    assert proof.balance == 3 * earned(member, 1, f"{15 + len(member)}.00").points
    for absent in (("carl", "GRP"), ("bob", "OVO"), ("nobody", "GRP")):
        with pytest.raises(Refused, match="had no transfer yet at seal 1"):
            await seals.prove(absent, 1)
    with pytest.raises(Refused, match="there is no seal '2'"):
        await seals.prove((member, "GRP"), 2)


async def test_nothing_is_proven_by_a_seal_that_does_not_hold(pool: Pool, database_url: str) -> None:
    seals = Seals(pool, SystemClock())
    await fill(pool, *MEMBERS)
    await seals.make()
    async with tampering(database_url) as superuser:
        await superuser.execute("update transfer set hash = '' where member_id = 'eve' and seq = 3")
    with pytest.raises(Refused, match=r"seal 1: its root .*is .*; run `abacus ledger verify`"):
        await seals.prove(("eve" if SLICES > 1 else "bob", "GRP"))


@pytest.mark.parametrize("renamed", [["adam"], ["bob"], ["eve"], ["adam", "eve"], ["adam", "bob", "eve"]], ids=str)
async def test_a_seal_holds_when_members_bear_other_names(pool: Pool, database_url: str, renamed: list[str]) -> None:
    """Erasing a member leaves for each seal the old leaf at its place, and the number of transfers."""
    seals = Seals(pool, SystemClock())
    await fill(pool, *MEMBERS)
    await seals.make()
    await fill(pool, "aaa", "bob")
    await seals.make()
    leaves: dict[int, list[bytes]] = {}
    for number, names in ((1, MEMBERS), (2, ["aaa", *MEMBERS])):
        proofs = [await seals.prove((name, "GRP"), number) for name in names]
        assert [proof.index for proof in proofs] == [in_its_slice(name, names) for name in names]
        for proof in proofs:
            head = Head(proof.member_id, proof.program, proof.seq, proof.balance, bytes.fromhex(proof.head_hash))
            leaves.setdefault(number, []).append(head.leaf(CURRENT))
            if proof.member_id in renamed:
                async with tampering(database_url) as owner:
                    await owner.execute(
                        "insert into sealed_leaf values ($1, 'GRP', $2, $3, $4, $5)",
                        *(other_name(proof.member_id), number, proof.index, head.leaf(CURRENT), proof.seq),
                    )
    assert (await verify(pool, RECHECK, seals=None)).clean is False, "leaves are kept, and the accounts still there"
    async with tampering(database_url) as owner:
        for name in renamed:
            for table in ("account", "transfer", "claim"):
                await owner.execute(f"update {table} set member_id = $2 where member_id = $1", name, other_name(name))
    report = await verify(pool, RECHECK, seals=None)
    assert [str(fault) for fault in report.faults if str(fault).startswith("seal")] == []
    assert report.seals == [1, 2]
    kept = next(name for name in ["aaa", *MEMBERS] if name not in renamed)
    assert (await seals.prove((kept, "GRP"), 2)).fault() is None


class Broker:
    """A broker that keeps the messages; it can be down, or take them all while its answer gets lost."""

    def __init__(self) -> None:
        self.events: list[LedgerSealed] = []
        self.down = False
        self.unheard = False

    async def connect(self) -> None:
        if self.down:
            raise Unavailable("Kafka", "down")

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        assert topic == TOPIC
        await self.connect()
        for message in messages:
            assert message.key == KEY
            self.events.append(LedgerSealed.model_validate_json(message.value))
        if self.unheard:
            raise Unavailable("Kafka", "no answer")

    @property
    def ids(self) -> list[str]:
        return [event.id for event in self.events]


async def test_seals_are_published_in_order_until_the_broker_has_them(pool: Pool) -> None:
    broker, seals = Broker(), Seals(pool, SystemClock())
    publishing = seal_publisher(pool, broker, TOPIC, SystemClock(), WorkerHealth("relay"))
    assert await one_step(pool, publishing) == 0
    for _ in range(2):
        await seals.make()
    broker.down = True
    with pytest.raises(Unavailable):
        await one_step(pool, publishing)
    broker.down, broker.unheard = False, True
    with pytest.raises(Unavailable):
        await one_step(pool, publishing)
    broker.unheard = False
    assert await one_step(pool, publishing) == 2
    assert await one_step(pool, publishing) == 0
    assert broker.ids == ["seal:1", "seal:2"] * 2
    assert [event.data.hash for event in broker.events[2:]] == [each.hash.hex() for each in await seals.all()]


async def test_making_a_seal_holds_up_no_relay(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The relay waits for every transaction that has begun to write: a seal begins to write when all is read."""
    published: list[int] = []

    class Points:
        async def connect(self) -> None:
            """A broker that is always there."""

        async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
            published.append(len(messages))

    async def grow_and_publish(*arguments: Any, **named: Any) -> Grown:
        grown = await grow(*arguments, **named)
        relay = Relays(pool, Points(), SystemClock())
        await neighbours_are_through(pool)
        await one_step(pool, relay)
        return grown

    monkeypatch.setattr(module, "grow", grow_and_publish)
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    assert sum(published) == 9


async def test_who_reads_the_points_stream_passes_over_seals(house: House) -> None:
    """The relay publishes all seals, and goes on with the points that come after."""
    await Seals(house.pool, SystemClock()).make()
    seal = (await Seals(house.pool, SystemClock()).all())[0]
    event = encode_sealed(seal)
    assert (heard_in(event), heard(event), posted(event)) == (None, None, None)
    before = [total(counter, outcome="unreadable") for counter in (TIER_EVENTS, NOTICES, WEBHOOKS)]
    async with house.running("relay", "tierkeeper", "notifier", "webhooks"):
        await until(lambda: _published(house))
        await PostgresLedger(house.pool, SystemClock()).post([earned("bob", 1)])
        await until(lambda: _counted(house))
    assert [total(counter, outcome="unreadable") for counter in (TIER_EVENTS, NOTICES, WEBHOOKS)] == before


async def _published(house: House) -> bool:
    return bool(await house.pool.fetchval("select published_at from seal"))


async def _counted(house: House) -> bool:
    return int(await house.pool.fetchval("select count(*) from tier_tally")) == 1


async def test_the_commands(pool: Pool, database_url: str, tmp_path: Path) -> None:
    env, file = {"ABACUS_DATABASE_URL": database_url}, tmp_path / "bob.json"
    none = await abacus("ledger", "prove", "bob", env=env)
    assert (none.code, none.err) == (1, "abacus: there is no account of 'bob'\n")
    await fill(pool, *MEMBERS)
    made = await abacus("ledger", "seal", "--json", env=env)
    root = made.json["seal"]["root"]
    assert (made.code, made.json["made"], made.json["seal"]["transfers"]) == (0, True, 9)
    again = await abacus("ledger", "seal", "--if-older-than", "20", env=env)
    assert again.out.startswith("seal 1 is from ")
    assert (await abacus("ledger", "seal", env=env)).out.startswith("seal 2: 3 accounts, 9 transfers, root ")
    listed = (await abacus("ledger", "seals", "--json", env=env)).json["seals"]
    assert [each["number"] for each in listed] == [2, 1]
    assert listed[1] == made.json["seal"]
    assert "Seals" in (await abacus("ledger", "seals", env=env)).out

    assert (await abacus("ledger", "prove", "bob", "--seal", "1", "-o", str(file), env=env)).code == 0
    printed = await abacus("ledger", "prove", "bob", "--seal", "1", env=env)
    assert json.loads(printed.out) == json.loads(file.read_text())
    held = await abacus("ledger", "check-proof", str(file))  # no database
    assert held.code == 0
    assert held.out.startswith("holds: bob had 216 points (GRP)\n  at seal 1, of ")
    assert "as the file says: compare it, or give --root" in held.out
    given = await abacus("ledger", "check-proof", str(file), "--root", root, "--json")
    assert (given.json["holds"], given.json["root_given"], given.json["balance"]) == (True, True, 216)
    other = await abacus("ledger", "check-proof", str(file), "--root", "ab" * 32)
    assert (other.code, other.out) == (1, f"does not hold: the seal's root is {root}, not {'ab' * 32}\n")
    file.write_text(file.read_text().replace('"balance": 216', '"balance": 217'))
    forged = await abacus("ledger", "check-proof", str(file), "--root", root, "--json")
    assert (forged.code, forged.json["holds"]) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["prove", "bob"], "abacus: bob has several accounts; say which with --program: GRP, OVO"),
        (["prove", "bob", "--program", "GRP", "--seal", "3"], "abacus: there is no seal '3'"),
        (["prove", "bob", "--program", "GRP"], "abacus: bob GRP had no transfer yet at seal 1"),
        (["check-proof", "/nowhere/bob.json"], "abacus: /nowhere/bob.json: No such file or directory"),
        (["check-proof", __file__], "abacus: not a proof: Invalid JSON"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else None,
)
async def test_what_is_refused(pool: Pool, database_url: str, arguments: list[str], line: str) -> None:
    await Seals(pool, SystemClock()).make()
    await PostgresLedger(pool, SystemClock()).post([earned("bob", 1), earned("bob", 2, program="OVO")])
    ran = await abacus("ledger", *arguments, env={"ABACUS_DATABASE_URL": database_url})
    assert (ran.code, ran.out) == ((1 if line.startswith("abacus: there is no ") else 2), "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1

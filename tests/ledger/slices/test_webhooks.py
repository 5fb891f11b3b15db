"""Messages to partners of a ledger in slices: each lies with its member, and a slice that is away holds up no other."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import pytest

from abacus.core.errors import Refused
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.decide.delivery import Delivery
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.intake.partners.webhooks.sources import Postings
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.point_event import encode_event
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.delivery.types import Answer, Backlog, DeliveryOutcome, Room, Said, Settled, Verdict
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.postgres import Connection, Pool
from tests.ledger.slices.eight import CLOCK, MEMBERS, bring_back, take_away
from tests.support.awards import NOW, award
from tests.support.fixed_clock import FixedClock
from tests.support.logged import limits_logged

AWAY: Final = 3
ALL: Final = Room(64, 64, {})
FAILED: Final = Answer(Said.FAILED, "answered 500", 500)


async def told(pool: Pool, ledger: PostgresLedger, name: str = "acme") -> list[Record]:
    """A partner with a webhook has given each member points; the events of that."""
    made = Partner(name, name, True, True, (), None, 1000, None, NOW, "tests", None)  # noqa: FBT003  # as stored
    await PartnerStore(pool, CLOCK).create(made, Limits(), LIVE_KEY.new(), also=limits_logged(made.partner_id))
    await WebhookStore(pool, CLOCK).set(name, "https://hooks.example/", new_secret())
    keys = [f"api:{name}:{member}" for member in MEMBERS]
    await ledger.post(
        [award(key=key, member_id=member, activity=False) for key, member in zip(keys, MEMBERS, strict=True)]
    )
    reader, records = LedgerReader(pool), list[Record]()
    for member in MEMBERS:
        for transfer in await reader.history(member, {"GRP": 10**9}, 10):
            if transfer.key in keys:
                records.append(Record(encode_event(transfer), "points", 0, len(records)))
    return records


def postings(pool: Pool) -> Postings:
    return Postings(pool, WebhookOutbox(pool, CLOCK), WorkerHealth("webhooks"))


def members(deliveries: Sequence[Delivery]) -> list[str]:
    return sorted(each.member_id for each in deliveries)


def settled(delivery: Delivery, outcome: DeliveryOutcome, answer: Answer = FAILED) -> Settled[Delivery]:
    return Settled(delivery, answer, Verdict(outcome, None, answer.detail))


async def test_each_lies_with_its_member_and_is_sent_once(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    records, outbox = await told(pool, ledger), WebhookOutbox(pool, CLOCK)
    for _ in range(2):
        assert not await postings(pool).handle(records)
    for number, member in enumerate(MEMBERS):
        assert await owner.fetch(f"select member_id from slice_{number}.webhook_delivery") == [(member,)]
    assert await outbox.waiting() == Backlog(8, NOW)
    few = await outbox.take(Room(64, 3, {}))
    assert len(few) == 3, "in all slices together"
    rest = await outbox.take(ALL)
    assert members([*few, *rest]) == sorted(MEMBERS)
    assert await outbox.take(ALL) == []
    await outbox.settle(
        [settled(each, DeliveryOutcome.DELIVERED, Answer(Said.ACCEPTED, "", 200)) for each in [*few, *rest]]
    )
    assert await outbox.waiting() == Backlog(0, None)
    later = WebhookOutbox(pool, FixedClock(NOW + timedelta(days=40)))
    await later.prune()
    assert await owner.fetchval("select count(*) from webhook_delivery") == 0


async def test_a_slice_that_is_away_keeps_no_other_waiting(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    records, outbox, reading = await told(pool, ledger), WebhookOutbox(pool, CLOCK), postings(pool)
    await take_away(owner, AWAY, "webhook_delivery")
    assert await reading.handle(records) == [records[AWAY]], "it stays behind"
    deliveries = await outbox.take(ALL)
    assert members(deliveries) == sorted(member for member in MEMBERS if member != MEMBERS[AWAY])
    await bring_back(owner, AWAY, "webhook_delivery")
    with pytest.raises(StartAgain):
        await reading.handle([])
    assert not await reading.handle(records)
    assert members(await outbox.take(ALL)) == [MEMBERS[AWAY]]


async def test_an_outcome_is_written_once_its_slice_is_back(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    outbox = WebhookOutbox(pool, CLOCK)
    await postings(pool).handle(await told(pool, ledger))
    deliveries = await outbox.take(ALL)
    await take_away(owner, AWAY, "webhook_delivery")
    await outbox.settle([settled(each, DeliveryOutcome.DELIVERED) for each in deliveries])
    assert (await outbox.waiting()).deliveries == 0
    await outbox.prune()
    await bring_back(owner, AWAY, "webhook_delivery")
    again = await WebhookOutbox(pool, FixedClock(NOW + timedelta(minutes=5))).take(ALL)
    assert members(again) == [MEMBERS[AWAY]], "it is sent again"


async def test_a_receiver_that_is_gone_while_a_slice_is_away_is_found_gone_again(
    pool: Pool, owner: Connection, ledger: PostgresLedger
) -> None:
    outbox, store, gone = WebhookOutbox(pool, CLOCK), WebhookStore(pool, CLOCK), Answer(Said.GONE, "answered 410", 410)
    await postings(pool).handle(await told(pool, ledger))
    first, *_ = await outbox.take(ALL)
    await take_away(owner, AWAY, "webhook_delivery")
    await outbox.settle([settled(first, DeliveryOutcome.GONE, gone)])
    assert (await store.get("acme"))[0].disabled_at is None, "its messages in that slice could not be given up"
    await bring_back(owner, AWAY, "webhook_delivery")
    again = await WebhookOutbox(pool, FixedClock(NOW + timedelta(minutes=5))).take(ALL)
    assert first.id in {each.id for each in again}
    await outbox.settle([settled(again[0], DeliveryOutcome.GONE, gone)])
    webhook, counts = await store.get("acme")
    assert (webhook.disabled_why, counts) == ("answered 410", (0, 8))


async def test_a_receiver_that_is_gone_gives_up_the_messages_of_all_slices(pool: Pool, ledger: PostgresLedger) -> None:
    outbox, store = WebhookOutbox(pool, CLOCK), WebhookStore(pool, CLOCK)
    await postings(pool).handle(await told(pool, ledger))
    first, *_ = await outbox.take(Room(1, 1, {}))
    await outbox.settle([settled(first, DeliveryOutcome.GONE, Answer(Said.GONE, "answered 410", 410))])
    webhook, counts = await store.get("acme")
    assert (webhook.disabled_why, counts) == ("answered 410", (0, 8))
    assert await outbox.take(ALL) == []
    undelivered = await store.undelivered("acme", 5)
    assert len(undelivered) == 5
    assert undelivered == sorted(undelivered, key=lambda each: (each.created_at, each.message_id))
    with pytest.raises(Refused, match="'nothing' is no undelivered message of acme"):
        await store.retry("acme", [undelivered[0].message_id, "nothing"], enable=True)
    assert await store.retry("acme", [each.message_id for each in undelivered], enable=True) == 5
    assert len(await outbox.take(ALL)) == 5
    await store.remove("acme")
    assert (await outbox.waiting()).deliveries == 0

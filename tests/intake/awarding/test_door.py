"""The award queue is not trusted: what cannot be ours is set aside, and nothing is while it cannot be known."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from abacus.core.errors import Reason, Unavailable
from abacus.core.signature import EnvelopeKey, Producer, Signer, Verifier
from abacus.intake.awarding.door import Admitted, Door
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.movement import Reversal
from abacus.ledger.types.reversal_message import encode_reversal
from abacus.platform.quarantine.replay import readable
from abacus.platform.quarantine.types import Stage
from abacus.platform.sqs.compressed_envelope import compressed
from abacus.platform.sqs.packer import pack
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardReader
from tests.ledger.ledgers import NOW
from tests.ledger.moves import refund
from tests.support.awards import award
from tests.support.cards import INDONESIA, SINGAPORE
from tests.support.door import NOBODY_SIGNS, door
from tests.support.fixed_clock import FixedClock

CLOCK: Final = FixedClock(NOW)
SECRET: Final = b"s" * 32
KEYS: Final = {each: EnvelopeKey(each, f"{each}.1", SECRET + each.encode()) for each in Producer}
VERIFIER: Final = Verifier(KEYS.values())


def envelope(*things: Award | Reversal) -> str:
    (body,) = pack(
        "awards", [encode_award(each) if isinstance(each, Award) else encode_reversal(each) for each in things]
    )
    return body


def signed(producer: Producer, *things: Award | Reversal) -> str:
    return Signer(KEYS[producer]).sign(envelope(*things))


async def admitted(*bodies: str, verifier: Verifier = NOBODY_SIGNS) -> Admitted:
    return await door(CLOCK, verifier, "summer").admit(bodies)


def partners(**changed: Any) -> Award:
    return award(key="api:acme:1", **changed)


ROLLED_BACK: Final = refund("5.00", key="redemption:1:back", of="redemption:1")._replace(
    part=None, source="offer:lunch_20"
)
FORGED: Final[dict[str, tuple[Award | Reversal, Reason]]] = {
    "a country without a card": (award(country="ZZ"), Reason.UNKNOWN_COUNTRY),
    "a program that no card issues": (award(program="EVIL"), Reason.UNKNOWN_PROGRAM),
    "a program of another country": (award(program="OVO"), Reason.UNKNOWN_PROGRAM),
    "a partner's, of a program that no card issues": (partners(program="EVIL"), Reason.UNKNOWN_PROGRAM),
    "a refund's key": (award(key="refund:rides:R-1"), Reason.UNKNOWN_SOURCE),
    "an expiry's key": (award(key="expiry:2026-11:bob:GRP", source="clock"), Reason.UNKNOWN_SOURCE),
    "an import's key": (award(key="import:old:bob:GRP", source="import"), Reason.UNKNOWN_SOURCE),
    "a person's points": (award(key="x", source="person:ann"), Reason.UNKNOWN_SOURCE),
    "a campaign's that nobody published": (award(key="campaign:mint:app:lunch:1:1"), Reason.UNKNOWN_SOURCE),
    "a key of no kind": (award(key="x"), Reason.UNKNOWN_SOURCE),
    "of a time to come": (award(occurred_at=NOW + timedelta(minutes=6)), Reason.IN_THE_FUTURE),
    "good for a lifetime": (award(expires_on=date(2109, 12, 31)), Reason.INVALID),
    "over before it began": (award(expires_on=date(2026, 1, 9)), Reason.INVALID),
    "a reversal of a country without a card": (
        refund("5.00", key="refund:rides:1", country="ZZ"),
        Reason.UNKNOWN_COUNTRY,
    ),
    "a reversal under another key": (refund("5.00", key="adjust:1"), Reason.UNKNOWN_SOURCE),
    "a reversal of a partner's spend": (
        refund("5.00", key="refund:rides:1", of="api:acme:order-1"),
        Reason.UNKNOWN_SOURCE,
    ),
    "a reversal of an offer's points by the stream": (
        refund("5.00", key="redemption:1:back", of="redemption:1"),
        Reason.UNKNOWN_SOURCE,
    ),
    "a reversal of a transaction by an offer": (
        refund("5.00", key="refund:rides:1")._replace(part=None, source="offer:lunch_20"),
        Reason.UNKNOWN_SOURCE,
    ),
    "a reversal of a time to come": (
        refund("5.00", key="refund:rides:1", occurred_at=datetime(2099, 1, 1, tzinfo=UTC)),
        Reason.IN_THE_FUTURE,
    ),
}
OURS: Final[dict[str, Award | Reversal]] = {
    "a transaction": award(),
    "a fixed award": award(key="event:rides:booking.cancelled_by_driver:1"),
    "a partner's": partners(),
    "a campaign's": award(key="campaign:summer:app:lunch:1:1"),
    "an offer's": award(key="redemption:1", source="offer:lunch_20"),
    "a reward's, of a program of another country": award(key="redemption:2", source="reward:miles", program="OVO"),
    "a partner's, by a card of another country": partners(program="OVO"),
    "the last day of the longest card": award(expires_on=date(2031, 1, 31)),
    "a refund": refund("5.00", key="refund:rides:1"),
    "an offer's points, taken back": ROLLED_BACK,
}


@pytest.mark.parametrize("name", FORGED)
async def test_what_cannot_be_ours_is_set_aside_and_its_neighbours_come_in(name: str) -> None:
    forged, reason = FORGED[name]
    came = await admitted(envelope(award(key="txn:rides:0"), forged, award(key="txn:rides:2")))
    assert [each.key for each in came.awards] == ["txn:rides:0", "txn:rides:2"]
    assert [(each.reason, each.stage, each.key, each.origin) for each in came.bad] == [
        (reason, Stage.AWARD, forged.key, f"award:{forged.key}")
    ]
    assert came.reversals == []


@pytest.mark.parametrize("name", OURS)
async def test_what_can_be_ours_comes_in(name: str) -> None:
    came = await admitted(envelope(OURS[name]))
    assert [*came.awards, *came.reversals] == [OURS[name]]
    assert came.bad == []


class Published:
    """A store to which a card is published, and which may be away."""

    def __init__(self, *cards: PublishedCard) -> None:
        self.cards = list(cards)
        self.away = False
        self.readings = 0

    async def load(self, _: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        self.readings += 1
        if self.away:
            raise Unavailable("database", "away")
        return list(self.cards)


async def reading(store: Published) -> tuple[Door, CardReader]:
    reader = CardReader(store.load)
    await reader.refresh()
    return Door(reader, CLOCK, NOBODY_SIGNS), reader


INDONESIAN: Final = award(country="ID", program="OVO")


async def test_a_card_that_was_published_a_moment_ago_is_known() -> None:
    store = Published(PublishedCard(SINGAPORE, 7))
    opened, _ = await reading(store)
    store.cards.append(PublishedCard(INDONESIA, 1))
    came = await opened.admit([envelope(INDONESIAN)])
    assert (came.awards, came.bad, store.readings) == ([INDONESIAN], [], 2)


async def test_while_the_cards_cannot_be_read_nothing_is_set_aside() -> None:
    store = Published(PublishedCard(SINGAPORE, 7))
    opened, _ = await reading(store)
    store.away = True
    with pytest.raises(Unavailable):
        await opened.admit([envelope(award(), INDONESIAN)])
    came = await opened.admit([envelope(award())])  # the known cards go on serving
    assert came.awards == [award()]


async def test_before_a_card_was_ever_read_it_waits() -> None:
    store = Published()
    with pytest.raises(Unavailable):
        await Door(CardReader(store.load), CLOCK, NOBODY_SIGNS).admit([envelope(award())])


# With keys.


@pytest.mark.parametrize(
    ("producer", "things"),
    [
        (Producer.CALCULATOR, [award(), refund("5.00", key="refund:rides:1")]),
        (Producer.RETRIER, [award(), partners()]),
        (Producer.API, [partners()]),
        (Producer.CAMPAIGNER, [award(key="redemption:1", source="offer:lunch_20"), ROLLED_BACK]),
        (Producer.OPERATOR, [award(), partners()]),
    ],
)
async def test_a_producer_vouches_for_its_own_sources(producer: Producer, things: Sequence[Award | Reversal]) -> None:
    came = await admitted(signed(producer, *things), verifier=VERIFIER)
    assert [*came.awards, *came.reversals] == list(things)
    assert came.bad == []


TAMPERED: Final[dict[str, str]] = {
    "unsigned": envelope(award()),
    "by a key that nobody knows": Signer(EnvelopeKey(Producer.API, "api.9", SECRET)).sign(envelope(award())),
    "by another secret": Signer(EnvelopeKey(Producer.API, "api.1", SECRET)).sign(envelope(award())),
    "changed after it was signed": signed(Producer.CALCULATOR, award()).replace('"points":180', '"points":181'),
    "under another's name": signed(Producer.CALCULATOR, award()).replace('"by":"calculator.1"', '"by":"operator.1"'),
    "with a code cut short": signed(Producer.CALCULATOR, award())[:-3] + '"}',
    "with something behind the code": signed(Producer.CALCULATOR, award()) + " ",
    "a stream's award by the API": signed(Producer.API, award()),
    "a partner's award by the calculator": signed(Producer.CALCULATOR, partners()),
    "a refund by the API": signed(Producer.API, refund("5.00", key="refund:rides:1")),
    "one of another source among its own": signed(Producer.API, partners(), award()),
    "no envelope": "{}",
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_what_nobody_vouches_for_is_set_aside_whole(name: str) -> None:
    """Whole, so that a replay sends it as it came, and does not vouch for it."""
    body = TAMPERED[name]
    came = await admitted(body, signed(Producer.CALCULATOR, award(key="txn:rides:2")), verifier=VERIFIER)
    assert [each.key for each in came.awards] == ["txn:rides:2"]
    assert [(each.reason, each.stage, each.body) for each in came.bad] == [
        (Reason.UNVOUCHED, Stage.ENVELOPE, body.encode())
    ]


async def test_signatures_are_passed_over_where_no_keys_are_set() -> None:
    came = await admitted(signed(Producer.API, award()))
    assert came.awards == [award()]


async def test_during_a_rotation_both_keys_hold() -> None:
    former, new = (EnvelopeKey(Producer.API, f"api.{number}", SECRET + bytes([number])) for number in (1, 2))
    bodies = [Signer(each).sign(envelope(partners())) for each in (former, new)]
    assert len((await admitted(*bodies, verifier=Verifier([former, new]))).awards) == 2
    assert len((await admitted(*bodies, verifier=Verifier([new]))).awards) == 1


@pytest.mark.parametrize(("producer", "comes_in"), [(Producer.CALCULATOR, True), (Producer.API, False), (None, False)])
async def test_a_signature_vouches_for_a_compressed_envelope_before_it_is_unpacked(
    producer: Producer | None,
    comes_in: bool,  # noqa: FBT001  # a row's outcome
) -> None:
    within = compressed(envelope(award()).encode(), 1)
    body = within if producer is None else Signer(KEYS[producer]).sign(within)
    came = await admitted(body, verifier=VERIFIER)
    assert came.awards == ([award()] if comes_in else [])
    assert [(each.reason, each.body) for each in came.bad] == [(Reason.UNVOUCHED, body.encode())] * (not comes_in)


async def test_a_compressed_envelope_that_lies_is_set_aside_whole() -> None:
    body = compressed(envelope(award(key="txn:rides:1"), award(key="txn:rides:2")).encode(), 3)
    came = await admitted(body, envelope(award(key="txn:rides:3")))
    assert [each.key for each in came.awards] == ["txn:rides:3"]
    assert [(each.stage, each.reason, each.body) for each in came.bad] == [
        (Stage.ENVELOPE, Reason.INVALID, body.encode())
    ]
    assert '"key": "txn:rides:2"' in readable(came.bad[0].body)

"""Explanations of version 0, of version 1, and of versions to come, in one ledger."""

from datetime import UTC, date, datetime
from typing import Any

import orjson
import pytest

from abacus.cli.ledger.explain import explained
from abacus.ledger.decide.chain import CURRENT, chain
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.backtest.replay import backtest
from abacus.platform.postgres import Pool, snapshot
from abacus.proof.decide.recheck import Recheck
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from tests.support.cards import BOOK, SINGAPORE
from tests.support.explanations import VERSION_0, in_version_1
from tests.support.fixed_clock import FixedClock
from tests.support.sealing import NOW, RECHECK, earned

POSTED = datetime(2026, 8, 1, tzinfo=UTC)
ALWAYS = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))

# The name of an explanation, and the transfer that it explains: its kind, the key that it reverses, its actor.
WRITTEN: dict[str, tuple[TransferKind, int, str | None, str | None]] = {
    "calculated": (TransferKind.EARN, 0, None, None),
    "fixed": (TransferKind.EARN, 0, None, None),
    "granted": (TransferKind.EARN, 0, None, None),
    "by a campaign": (TransferKind.EARN, 0, None, None),
    "by a campaign's formula": (TransferKind.EARN, 0, None, None),
    "by an offer": (TransferKind.EARN, 0, None, None),
    "by an offer, so many times": (TransferKind.EARN, 0, None, None),
    "by a reward": (TransferKind.EARN, 0, None, None),
    "by a journey": (TransferKind.EARN, 0, None, None),
    "refunded": (TransferKind.REVERSE, 180, "txn:rides:T-1001", None),
    "reversed": (TransferKind.REVERSE, 180, "txn:rides:T-1001", None),
    "given back": (TransferKind.REVERSE, 180, "api:acme:order-1001", "acme"),
    "refunded at a till": (TransferKind.REVERSE, 180, "api:acme:lunch-7", "acme"),
    "lapsed whole": (TransferKind.EXPIRE, 230, None, None),
    "lapsed before there were lots": (TransferKind.EXPIRE, 180, None, None),
    "lapsed by lots": (TransferKind.EXPIRE, 230, None, None),
    "spent": (TransferKind.SPEND, 280, None, "acme"),
    "spent at a till": (TransferKind.SPEND, 280, None, "acme"),
    "captured": (TransferKind.SPEND, 280, None, "acme"),
    "exchanged out": (TransferKind.EXCHANGE_OUT, 280, None, "acme"),
    "exchanged in": (TransferKind.EXCHANGE_IN, 0, None, None),
    "held for an exchange": (TransferKind.HOLD, 280, None, "acme"),
    "held": (TransferKind.HOLD, 280, None, "acme"),
    "released": (TransferKind.RELEASE, 280, None, "acme"),
    "adjusted": (TransferKind.ADJUST, 0, None, "ann"),
    "adjusted without approval": (TransferKind.ADJUST, 100, None, "ann"),
    "imported": (TransferKind.ADJUST, 0, None, "import:oldsystem"),
}
VERSIONS = [pytest.param(lambda text: text, id="version 0"), pytest.param(in_version_1, id="version 1")]


def transfer_of(name: str, text: bytes) -> Transfer:
    kind, balance, reverses, actor = WRITTEN[name]
    points = orjson.loads(VERSION_0[name])["points"]
    day = date(2026, 7, 31)
    key = f"key:{name}"
    row = ("bob", "GRP", 1, kind, points, balance + points, key, "SG", POSTED, POSTED, day, text, reverses, actor)
    source = "exchange:skymiles" if "exchange" in name else None
    transfer = Transfer(*row, source=source, lifetime=False, vests_on=None, vests_at=None, format=CURRENT, hash=b"")
    return transfer._replace(hash=chain(b"", transfer[:-1]))


def test_every_kind_has_a_transfer() -> None:
    assert WRITTEN.keys() == VERSION_0.keys()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", VERSION_0)
def test_both_are_recomputed(name: str, version: Any) -> None:
    text = version(VERSION_0[name])
    transfer = transfer_of(name, text)
    assert recompute(transfer, BOOK) is None
    assert Recheck(BOOK)(transfer) is None
    assert recompute(transfer._replace(points=transfer.points - 1), BOOK) is not None
    assert text.decode() not in "\n".join(explained(transfer, None))


@pytest.mark.parametrize("name", VERSION_0)
def test_a_transfer_of_another_kind_is_not_explained_by_it(name: str) -> None:
    transfer = transfer_of(name, VERSION_0[name])
    for kind in TransferKind:
        other = recompute(transfer._replace(kind=kind), BOOK)
        assert (other is None) == (kind is transfer.kind)
        assert other is None or "the transfer is of kind" in other


def test_version_0_is_rechecked_as_quickly_as_version_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rechecking writes the explanation again instead of recomputing it in full."""
    monkeypatch.setattr("abacus.proof.decide.recheck.recompute", lambda *_: "recomputed in full")
    recheck = Recheck(BOOK)
    for text in (VERSION_0["calculated"], in_version_1(VERSION_0["calculated"])):
        assert recheck(transfer_of("calculated", text)) is None


@pytest.mark.parametrize("text", [b'{"v":2,"mystery":{"points":180}}', b'{"v":1,"points":180,"wheel":"of fortune"}'])
def test_what_is_not_known_is_said_and_shown(text: bytes) -> None:
    transfer = transfer_of("calculated", text)
    difference = recompute(transfer, BOOK)
    assert difference is not None
    assert difference.startswith("the explanation is not known here: ")
    lines = explained(transfer, difference)
    assert lines[-3:] == [
        "  this version of Abacus does not know such an explanation:",
        f"  {text.decode()}",
        f"  recomputed now: {difference}",
    ]


def test_what_is_broken_is_said_and_shown() -> None:
    lines = explained(transfer_of("calculated", b'{"factors":7}'), "cannot")
    assert lines[-3].startswith("  the explanation cannot be read: ")
    assert lines[-2] == '  {"factors":7}'


@pytest.mark.parametrize("version", VERSIONS)
def test_an_award_without_factors_is_explained(version: Any) -> None:
    text = orjson.dumps(orjson.loads(version(VERSION_0["calculated"])) | {"factors": []})
    transfer = transfer_of("calculated", text)
    lines = explained(transfer, recompute(transfer, BOOK))
    assert lines[-3:] == [
        "  15.00 SGD, and no factors are listed",
        "  = 180.00, floor = 180 points, by card SG@7",
        "  recomputed now: the explanation does not hold: it lists no factor vertical, eppf, cashless, tier",
    ]


def in_version_0(award: Award) -> Award:
    return award._replace(explanation=award.explanation.replace(b'{"v":1,', b"{", 1))


async def test_a_ledger_of_both_versions_is_verified_and_priced_again(pool: Pool) -> None:
    ledger = PostgresLedger(pool, FixedClock(NOW))
    await ledger.post([in_version_0(earned("bob", 1)), earned("bob", 2), in_version_0(earned("eve", 1))])
    written = await pool.fetch("select explanation ->> 'v' as version from transfer order by member_id, seq")
    assert [row["version"] for row in written] == [None, "1", None]
    report = await verify(pool, RECHECK)
    assert (report.clean, report.transfers) == (True, 3)
    async with snapshot(pool) as connection:
        comparison = await backtest(
            connection, SINGAPORE, datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
        )
    assert (comparison.total.awards, comparison.unpriced) == (3, [])


async def test_a_version_to_come_is_reported_and_priced_by_nobody(pool: Pool, database_url: str) -> None:
    ledger = PostgresLedger(pool, FixedClock(NOW))
    later = earned("bob", 2)
    await ledger.post([earned("bob", 1), later._replace(explanation=later.explanation.replace(b'"v":1', b'"v":2'))])
    faults = [str(fault) for fault in (await verify(pool, RECHECK)).faults]
    assert faults == [
        "bob GRP #2: the explanation is not known here: version 2, and this version of Abacus knows none after 1"
    ]
    async with snapshot(pool) as connection:
        comparison = await backtest(
            connection, SINGAPORE, datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
        )
    assert comparison.total.awards == 1
    assert [(each.reason, each.awards) for each in comparison.unpriced] == [("unexplained", 1)]

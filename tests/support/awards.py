"""The award that the tests of this room start from, awards to one account, and any award that the queue may carry."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import orjson
from hypothesis import strategies as st

from abacus.core.points import MAX_POINTS
from abacus.core.sources import STREAM, partner_of, source_of_key
from abacus.ledger.types.award_envelope import Award, Transacted
from abacus.ledger.types.kinds import TransferKind

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
AWARD = Award(
    key="txn:rides:T-1001",
    member_id="bob",
    program="GRP",
    country="SG",
    kind=TransferKind.EARN,
    points=180,
    occurred_at=datetime(2026, 1, 10, 12, 30, tzinfo=timezone(timedelta(hours=8))),
    expires_on=date(2026, 7, 31),
    activity=True,
    fingerprint="0123456789abcdef",
    explanation=b'{"amount":"15.00","points":180}',
    source=STREAM,
)


def award(**changed: Any) -> Award:
    """An award whose source is the one that its key implies."""
    implied = source_of_key(changed.get("key", AWARD.key))
    return AWARD._replace(**{"source": implied or STREAM, **changed})


def printable(length: int) -> st.SearchStrategy[str]:
    """Any id that `core.ids` accepts."""
    alphabet = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
    return st.text(alphabet, min_size=1, max_size=length).filter(lambda text: text.strip(" ") == text)


_leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20)
explanations = st.dictionaries(
    st.text(max_size=10),
    st.recursive(_leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=6),
    max_size=4,
).map(orjson.dumps)

awards = st.builds(
    Award,
    key=printable(60),
    member_id=printable(40),
    program=st.sampled_from(["GRP", "OVO", "A", "A_9", "A" * 16]),
    country=st.text("AZSG", min_size=2, max_size=2),
    kind=st.just(TransferKind.EARN),
    points=st.integers(0, MAX_POINTS),
    occurred_at=st.datetimes(
        datetime(2000, 1, 2),  # noqa: DTZ001  # as it asks for
        datetime(2099, 12, 30),  # noqa: DTZ001  # as it asks for
        timezones=st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    ),
    expires_on=st.dates(date(2000, 1, 1), date(2109, 12, 31)),
    activity=st.booleans(),
    fingerprint=st.text("09af", min_size=16, max_size=64),
    explanation=explanations,
    source=st.sampled_from(["stream", "partner:acme", "campaign:34", "person:ann"]),
    lifetime=st.booleans(),
    transaction=st.none() | st.builds(Transacted, printable(40).map("txn:rides:{}".format), st.just("ab" * 8)),
    vests_on=st.none() | st.dates(date(2000, 1, 2), date(2099, 12, 30)),
    vests_at=st.none(),
).map(lambda award: _consistent(award._replace(source=source_of_key(award.key) or award.source)))


def _consistent(award: Award) -> Award:
    """Only a partner's award names a transaction, and then its explanation does. A day of vesting has its begin."""
    if award.vests_on is not None:
        midnight = datetime(award.vests_on.year, award.vests_on.month, award.vests_on.day, tzinfo=UTC)
        award = award._replace(vests_at=midnight - timedelta(hours=award.points % 14))
    if award.transaction is None or partner_of(award.source) is None:
        return award._replace(transaction=None)
    named = orjson.loads(award.explanation) | {"transaction": award.transaction.key}
    return award._replace(explanation=orjson.dumps(named))


# One member's in one program, as the queue may bring them: activity and gifts, in any order.
awards_to_bob = st.builds(
    award,
    key=st.integers(0, 999).map("txn:rides:{}".format),
    points=st.integers(0, 1000) | st.just(MAX_POINTS),
    occurred_at=st.integers(0, 400).map(lambda days: NOW - timedelta(days=days)),
    expires_on=st.integers(0, 12).map(lambda months: date(2026 + months // 12, months % 12 + 1, 28)),
    activity=st.booleans(),
)

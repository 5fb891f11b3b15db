"""When posting fails in a way that nobody foresaw, the message's other awards are posted, and the message fails."""

from collections.abc import Sequence

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import MOST_AWARDS, MOST_FAILURES, Awarder
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.port import AwardOutcome, Unpostable
from abacus.platform.sqs.packer import pack, pack_compressed
from abacus.platform.sqs.port import Received
from tests.support.awards import NOW, award
from tests.support.door import door
from tests.support.fixed_clock import FixedClock
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_quarantine import MemoryQuarantine

CLOCK = FixedClock(NOW)
AWARDS = [award(key=f"txn:rides:{number:02}", member_id=f"m{number}") for number in range(40)]


class Moody(MemoryLedger):
    """A ledger that fails on any batch with one of these keys."""

    def __init__(self, fails: dict[str, Exception]) -> None:
        super().__init__(CLOCK)
        self.fails = fails
        self.posts = 0
        self.most = 0

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        self.posts += 1
        self.most = max(self.most, len(awards))
        for each in awards:
            if each.key in self.fails:
                raise self.fails[each.key]
        return await super().post(awards)


async def handled(ledger: Moody, *messages: Sequence[Award]) -> MemoryQuarantine:
    quarantine = MemoryQuarantine(CLOCK)
    bodies = [body for each in messages for body in pack("awards", map(encode_award, each))]
    assert len(bodies) == len(messages)
    received = [Received(str(place), str(place), body, 1) for place, body in enumerate(bodies)]
    await Awarder(door(CLOCK), ledger, ledger, quarantine).handle(received)
    return quarantine


async def test_the_others_of_its_message_are_posted() -> None:
    bad, refused = AWARDS[17].key, AWARDS[30].key
    ledger = Moody({bad: ZeroDivisionError("nobody foresaw this"), refused: Unpostable("no such value")})
    with pytest.raises(ZeroDivisionError, match="nobody foresaw this"):
        await handled(ledger, AWARDS)
    assert ledger.claims.keys() == {each.key for each in AWARDS} - {bad, refused}
    ledger.fails.clear()
    await handled(ledger, AWARDS)
    assert len(ledger.transfers) == len(AWARDS)


async def test_what_is_refused_beside_it_is_set_aside() -> None:
    bad, refused = AWARDS[1].key, AWARDS[2].key
    ledger, quarantine = Moody({bad: RuntimeError(), refused: Unpostable("no such value")}), MemoryQuarantine(CLOCK)
    (body,) = pack("awards", map(encode_award, AWARDS[:4]))
    with pytest.raises(RuntimeError):
        await Awarder(door(CLOCK), ledger, ledger, quarantine).handle([Received("1", "1", body, 1)])
    assert [held.item.key for held in quarantine.kept()] == [refused]


async def test_of_several_messages_the_one_is_found_first() -> None:
    """The consumer tries the messages one at a time, so only the one that fails is taken apart."""
    ledger = Moody({AWARDS[17].key: RuntimeError()})
    with pytest.raises(RuntimeError):
        await handled(ledger, AWARDS[:20], AWARDS[20:])
    assert (ledger.posts, ledger.transfers) == (1, [])


async def test_when_all_fail_it_is_given_up_soon() -> None:
    ledger = Moody({each.key: RuntimeError() for each in AWARDS})
    with pytest.raises(RuntimeError):
        await handled(ledger, AWARDS)
    assert MOST_FAILURES < ledger.posts < len(AWARDS) / 2


async def test_a_ledger_that_is_away_is_no_failure_of_an_award() -> None:
    ledger = Moody({AWARDS[3].key: Unavailable("ledger", "away")})
    with pytest.raises(Unavailable):
        await handled(ledger, AWARDS)
    assert (ledger.posts, ledger.transfers) == (1, [])


async def test_the_awards_of_ten_full_messages_are_posted_some_hundreds_a_transaction() -> None:
    awards = [award(key=f"txn:rides:{number:04}", member_id=f"m{number}") for number in range(4_000)]
    bodies = [packed.body for packed in pack_compressed("awards", map(encode_award, awards))]
    ledger, quarantine = Moody({}), MemoryQuarantine(CLOCK)
    received = [Received(str(place), str(place), body, 1) for place, body in enumerate(bodies)]
    assert await Awarder(door(CLOCK), ledger, ledger, quarantine).handle(received) == received
    assert (len(received), ledger.posts, ledger.most) == (10, 8, MOST_AWARDS)
    assert ledger.claims.keys() == {each.key for each in awards}

"""The intake: awards that are sent together, the answer to each caller, and work without the register or the queue."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.earning.decide.source_message import PartnerRequest, SourceMessage, decode_retries
from abacus.intake.partners.award_intake import Accepted, AwardIntake, KeyInFlight, KeyReused
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import Reception, RegisterAnswer
from abacus.ledger.types.award_envelope import Award
from abacus.platform.sqs.compressed_envelope import seen_through
from abacus.platform.sqs.port import Unsent
from tests.ledger.ledgers import award
from tests.support.envelopes import awards_in


class Register:
    """The award intake's register, in memory; it can go away."""

    def __init__(self) -> None:
        self.entries: dict[UUID, tuple[Award, str]] = {}
        self.away = False
        self.calls = 0
        self.provisional: dict[UUID, bool] = {}

    async def take(self, entries: Sequence[Entry]) -> dict[UUID, RegisterAnswer]:
        self._ask()
        answers: dict[UUID, RegisterAnswer] = {}
        for entry in entries:
            first, how = self.entries.setdefault(entry.award_id, (entry.award, "new"))
            provisional = self.provisional.setdefault(entry.award_id, entry.provisional)
            if first.fingerprint != entry.award.fingerprint:
                answers[entry.award_id] = RegisterAnswer(Reception.OTHER_FACTS, first)
            else:
                reception = {"queued": Reception.QUEUED, "taken": Reception.IN_FLIGHT}.get(how, Reception.OURS)
                answers[entry.award_id] = RegisterAnswer(reception, first, provisional)
                if reception is Reception.OURS:
                    self.entries[entry.award_id] = (first, "taken")
        return answers

    async def queued(self, ids: Sequence[UUID]) -> None:
        self._ask()
        for id_ in ids:
            self.entries[id_] = (self.entries[id_][0], "queued")

    async def enter_queued(self, entries: Sequence[Entry]) -> None:
        self._ask()
        for entry in entries:
            self.entries[entry.award_id] = (entry.award, "queued")

    async def release(self, ids: Sequence[UUID]) -> None:
        self._ask()
        for id_ in ids:
            self.entries[id_] = (self.entries[id_][0], "new")

    def _ask(self) -> None:
        self.calls += 1
        if self.away:
            raise Unavailable("database", "gone")


class Line:
    """A queue that keeps each call, and refuses the bodies that hold a word."""

    name = "award"

    def __init__(self, refused: str | None = None) -> None:
        self.calls: list[list[str]] = []
        self.refused = refused
        self.may_send = asyncio.Event()
        self.may_send.set()

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        self.calls.append(list(bodies))
        await self.may_send.wait()
        read = {body: seen_through(body.encode()).decode() for body in bodies}
        left = [body for body in bodies if self.refused is not None and self.refused in read[body]]
        if left:
            raise Unsent("award", "refused", left)


def entry(key: str, **changes: object) -> Entry:
    return Entry.of("acme", award(key=f"api:acme:{key}", **changes))


async def books_kept(intake: AwardIntake) -> None:
    """Keep books until no entry is owed any more."""
    keeping = asyncio.create_task(intake.keep_books())
    async with asyncio.timeout(10):
        while intake.owed:  # noqa: ASYNC110  # the books are kept on their own time
            await asyncio.sleep(0.05)
    keeping.cancel()


async def test_a_hundred_callers_are_one_call() -> None:
    line, register = Line(), Register()
    intake = AwardIntake(line, Line(), register)
    accepted = await asyncio.gather(*(intake.enter(entry(str(number))) for number in range(100)))
    assert accepted == [Accepted(entry(str(number)).award, replayed=False) for number in range(100)]
    (call,) = line.calls
    assert sum(len(awards_in(body)) for body in call) == 100
    await intake.close()
    assert register.calls == 2


async def test_more_than_fit_together_go_one_after_the_other() -> None:
    line = Line()
    intake = AwardIntake(line, Line(), Register(), most_together=30)
    await asyncio.gather(*(intake.enter(entry(str(number))) for number in range(100)))
    assert [sum(len(awards_in(body)) for body in call) for call in line.calls] == [30, 30, 30, 10]


async def test_a_failed_envelope_fails_just_those_in_it() -> None:
    line, register = Line(refused='"key":"api:acme:0"'), Register()
    intake = AwardIntake(line, Line(), register)
    answers = await asyncio.gather(*(intake.enter(entry(str(n))) for n in range(500)), return_exceptions=True)
    (bodies,) = line.calls
    first = len(awards_in(bodies[0]))
    assert 0 < first < 500
    assert all(isinstance(answer, Unavailable) for answer in answers[:first])
    assert all(isinstance(answer, Accepted) for answer in answers[first:])
    # A caller that asks again may send at once, and that counts as the first time.
    line.refused = None
    assert await intake.enter(entry("0")) == Accepted(entry("0").award, replayed=False)


async def test_what_cannot_be_computed_now_leaves_by_the_retry_queue() -> None:
    line, retries, register = Line(), Line(), Register()
    intake = AwardIntake(line, retries, register)
    later = entry("later")._replace(
        to_compute=SourceMessage(b'{"type":"transaction.completed"}', "api:acme:later by SG@1")
    )
    accepted = await asyncio.gather(intake.enter(entry("now")), intake.enter(later))
    assert list(accepted) == [
        Accepted(entry("now").award, replayed=False),
        Accepted(later.award, replayed=False, provisional=True),
    ]
    ((awards,),), ((waiting,),) = line.calls, retries.calls
    assert [each["key"] for each in awards_in(awards)] == ["api:acme:now"]
    (message,) = decode_retries(waiting)
    assert message.partner_request == PartnerRequest("api:acme:later", "SG@1")


async def test_without_the_retry_queue_only_what_needs_it_is_refused() -> None:
    line, retries = Line(), Line(refused="api:acme:later")
    intake = AwardIntake(line, retries, Register())
    later = entry("later")._replace(to_compute=SourceMessage(b"{}", "api:acme:later by SG@1"))
    now, refused = await asyncio.gather(intake.enter(entry("now")), intake.enter(later), return_exceptions=True)
    assert isinstance(now, Accepted)
    assert isinstance(refused, Unavailable)


async def test_a_replay_without_the_register_is_as_provisional_as_the_first_answer() -> None:
    register = Register()
    register.away = True
    intake = AwardIntake(Line(), Line(), register)
    later = entry("later")._replace(to_compute=SourceMessage(b"{}", "api:acme:later by SG@1"))
    assert [await intake.enter(later), await intake.enter(later)] == [
        Accepted(later.award, replayed=False, provisional=True),
        Accepted(later.award, replayed=True, provisional=True),
    ]


async def test_provisional_points_that_never_left_are_those_of_the_request_that_sends_them() -> None:
    """When an entry is taken over, the register's answer decides the award, and whether it is to be computed."""
    line, retries, register = Line(), Line(), Register()
    intake = AwardIntake(line, retries, register)
    message = SourceMessage(b"{}", "api:acme:k by SG@1")
    known, guessed = entry("k", points=180), entry("k", points=60)._replace(to_compute=message)
    for entered, first in ((guessed, known), (known, guessed), (guessed, guessed)):
        anew = entered if first.provisional else first  # as `Register.take` has it
        register.entries[known.award_id] = (anew.award, "new")
        register.provisional[known.award_id] = anew.provisional
        accepted = await intake.enter(entered)
        assert accepted == Accepted(anew.award, replayed=False, provisional=anew.provisional)
        await intake.close()
    assert [len(each.calls) for each in (line, retries)] == [2, 1]


async def test_more_than_a_process_can_hold_are_refused() -> None:
    intake = AwardIntake(Line(), Line(), Register(), most_waiting=2)
    held = [asyncio.create_task(intake.enter(entry(str(number)))) for number in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="too many awards wait"):
        await intake.enter(entry("2"))
    assert not any(accepted.replayed for accepted in await asyncio.gather(*held))
    assert not (await intake.enter(entry("2"))).replayed


async def test_what_the_register_does_not_know_yet_is_remembered() -> None:
    register = Register()
    register.away = True
    intake = AwardIntake(Line(), Line(), register)
    one = entry("k")
    await intake.enter(one)
    assert intake.remembered(one.award_id) == one
    register.away = False
    await books_kept(intake)
    assert intake.remembered(one.award_id) is None


async def test_a_key_in_flight_is_told_so() -> None:
    line = Line()
    line.may_send.clear()
    intake = AwardIntake(line, Line(), Register())
    first = asyncio.create_task(intake.enter(entry("k")))
    await asyncio.sleep(0)
    with pytest.raises(KeyInFlight):
        await intake.enter(entry("k"))
    line.may_send.set()
    assert not (await first).replayed
    assert (await intake.enter(entry("k"))).replayed
    with pytest.raises(KeyReused):
        await intake.enter(entry("k", fingerprint="f" * 16))


async def test_a_key_that_another_process_sends_is_told_so() -> None:
    register = Register()
    await register.take([entry("k")])
    with pytest.raises(KeyInFlight):
        await AwardIntake(Line(), Line(), register).enter(entry("k"))


async def test_the_first_answer_is_given_again_whatever_the_rates_are_now() -> None:
    intake = AwardIntake(Line(), Line(), Register())
    await intake.enter(entry("k", points=5))
    assert (await intake.enter(entry("k", points=7))).award.points == 5


async def test_without_the_register_awards_go_on_and_entries_are_made_up_for() -> None:
    line, register = Line(), Register()
    intake = AwardIntake(line, Line(), register)
    register.away = True
    assert not (await intake.enter(entry("a"))).replayed
    calls_before = register.calls
    assert not (await intake.enter(entry("b"))).replayed
    assert register.calls == calls_before, "it is not asked again while it is known to be away"
    assert (await intake.enter(entry("a"))).replayed
    with pytest.raises(KeyReused):
        await intake.enter(entry("a", fingerprint="f" * 16))
    assert (len(line.calls), intake.owed) == (2, 2)
    register.away = False
    assert (await intake.enter(entry("b"))).replayed, "also before the entries are made up for"
    with pytest.raises(KeyReused):
        await intake.enter(entry("b", fingerprint="f" * 16))
    await books_kept(intake)
    assert {how for _, how in register.entries.values()} == {"queued"}
    assert (await intake.enter(entry("a"))).replayed


async def test_a_caller_who_leaves_does_not_take_the_others_along() -> None:
    line = Line()
    intake = AwardIntake(line, Line(), Register())
    leaving = asyncio.create_task(intake.enter(entry("a")))
    staying = asyncio.create_task(intake.enter(entry("b")))
    await asyncio.sleep(0)
    leaving.cancel()
    assert not (await staying).replayed
    await intake.close()
    assert len(line.calls) == 1
    assert (await intake.enter(entry("a"))).replayed

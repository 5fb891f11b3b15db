"""Dead letters: messages that queues gave up, why the workers failed, and how they are sent back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.decide.typed import number
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.pages.operations.state import queues_of
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.console.web.parts import Part
from abacus.oversight.status.sources import Places, workforce_of
from abacus.people.types.deed import Deed
from abacus.platform.presence.types import FailureNote
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY, definitions

COUNT: Final = "dead-letters"
REDRIVE: Final = "dead-letters-redrive"
_ALL: Final = "all queues"
_MOST: Final = 10_000
_QUEUES: Final = tuple(queue.name for queue in definitions("") if queue.dead_letter is not None)
# What the messages of a queue are, and what their members do without meanwhile.
_MEANS: Final = {
    AWARD: "Points that are decided and not booked.",
    RETRY: "Transactions that have got no points.",
    EXPIRY: "Accounts whose points have not lapsed.",
    CAMPAIGN_RETRY: "Events that campaigns have not been decided for.",
}


@dataclass(frozen=True)
class GivenUp:
    """A queue's dead letters. `letters` is None where the console cannot count them; `failure` is the last that a
    worker saw.
    """

    queue: str
    means: str
    letters: int | None
    failure: FailureNote | None


@dataclass(frozen=True, kw_only=True)
class DeadLettersPage(Page):
    """The queues, the last count by a task, and the last messages that were sent back."""

    template: ClassVar[str] = "dead_letters.html"
    given_up: Part[Sequence[GivenUp]]
    counted: Part[Done | None]
    sent_back: Part[Done | None]
    queues: Sequence[tuple[str, str]]
    may_redrive: bool


async def dead_letters(call: Call) -> DeadLettersPage:
    return DeadLettersPage(
        title="Dead letters",
        command="abacus dlq list",
        given_up=await call.part(_given_up(call)),
        counted=await call.part(newest(call, COUNT, _ALL)),
        sent_back=await call.part(newest(call, REDRIVE, _ALL)),
        queues=[(each, each) for each in _QUEUES],
        may_redrive=call.may(Deed.REPLAY, None),
    )


async def _given_up(call: Call) -> Sequence[GivenUp]:
    """Raises `Unavailable`."""
    known = (await workforce_of(call.premises.pool, call.premises.clock)).failures
    queued, prefix = await queues_of(call, None), call.rooms[Places].prefix
    waiting = {each.queue: each.waiting for each in queued.value or ()} if queued is not None else {}
    return [
        GivenUp(name, _MEANS[name], waiting.get(f"{prefix}{name}-dlq"), known.get(prefix + name)) for name in _QUEUES
    ]


async def count(call: Call) -> See:
    return await ask(call, Order(COUNT, _ALL, None, ("dlq", "list", "--json")), "/dead-letters")


async def redrive(call: Call) -> See:
    """Sends that many messages of a queue back, when the queue's name was typed."""
    queue, most = call.form.get("queue"), number(call.form.get("number"), _MOST)
    wrong = {"queue": "Choose a queue."} if queue not in _QUEUES else {}
    wrong |= {"number": f"Write a number from 1 to {_MOST:,}."} if not most else {}
    wrong |= {"name": "Type the name of the queue."} if call.form.get("name") != queue else {}
    if wrong:
        raise call.wrong(**wrong)
    order = Order(REDRIVE, _ALL, None, ("dlq", "redrive", queue, f"--limit={most}", "--json"))
    said = f"Dead letters of the queue {queue} are being sent back. What came of it stands below."
    return await ask(call, order, "/dead-letters", Said(said, "waiting"))

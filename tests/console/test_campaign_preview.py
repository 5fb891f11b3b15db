"""The messages of a draft for a real event, and real values beside the variables."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from abacus.platform.postgres import Pool
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.recent import RecentEvents
from abacus.signals.events.types import Event, Value
from tests.console.campaigning import TOML, cards
from tests.console.desk import Clock, desk

PAGE = "/campaigns-draft"
EVENTS = "events"
TELLS = TOML.replace(
    "award = { points = 5 }",
    'tell = { en = "Thanks\\nFor {{event.amount}} at {{event.source}}: {{1 // (event.amount|int - 20)}}",'
    ' id = "Terima kasih\\n{{event.vertical}}" }',
)


def recent_events(clock: Clock) -> RecentEvents:
    """Of three members of SG and one of ID."""

    async def tail(topic: str, _: datetime) -> Sequence[bytes]:
        return [encode_event(_bought(clock.now(), *each)) for each in OF_THE_DAY] if topic == EVENTS else ()

    return RecentEvents(tail, clock, EVENTS)


OF_THE_DAY = [("ann", 1, "SG"), ("bob", 2, "SG"), ("cat", 20, "SG"), ("budi", 3, "ID")]


def _bought(now: datetime, member_id: str, amount: int, country: str) -> Event:
    values: dict[str, Value] = {
        "source": "mart",
        "transaction_id": f"T-{member_id}",
        "amount": Decimal(amount),
        "currency": "SGD",
        "vertical": "food",
        "payment_type": "wallet",
    }
    at = now - timedelta(minutes=amount)
    return Event("transactions", "transaction.completed", f"mart:T-{member_id}", member_id, country, at, values)


async def test_messages_are_shown_for_an_event_of_the_day_and_a_fault_stands_at_its_field(pool: Pool) -> None:
    async with desk(pool, beside=lambda clock: [recent_events(clock)]) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        shown = (await ann.send_for_twin(PAGE, PAGE, text=TELLS, shown=TELLS, act="preview")).json()
        preview = shown["preview"]["value"]
        assert [each[0] for each in preview["events"]] == [
            f"transactions:transaction.completed:mart:T-{member}" for member in ("ann", "bob", "cat")
        ]
        assert all("T-" not in words for _, words in preview["events"])
        assert [(each["language"], each["title"], each["text"]) for each in preview["messages"]] == [
            ("English", "Thanks", "For 1 at mart: -1"),
            ("Indonesian", "Terima kasih", "food"),
        ]
        assert shown["faults"] == {"at": {}, "elsewhere": []}
        chosen = preview["events"][2][0]
        faulty = await ann.send_for_twin(PAGE, PAGE, text=TELLS, shown=TELLS, act="preview", for_event=chosen)
        assert faulty.status_code == 200
        assert list(faulty.json()["faults"]["at"]) == ["steps[0].do[0].tell.en"]
        # The values of that day stand beside the variables, and no id is among them.
        sides = (await ann.see(PAGE)).text
        assert "vertical (text), such as food" in sides
        assert "T-" not in sides.partition('<fieldset class="part list">')[2].partition("The event, as JSON")[0]


async def test_nothing_is_previewed_where_no_message_is_told_or_no_broker_is_named(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        for text in (TELLS, TOML):
            shown = (await ann.send_for_twin(PAGE, PAGE, text=text, shown=text, act="preview")).json()
            assert (shown["previews"], shown["preview"]) == (None, None)

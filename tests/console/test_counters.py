"""The pages of counters: a chart sums what was counted, for those whose role holds everywhere."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from abacus.platform.postgres import Pool
from tests.console.desk import Desk, desk
from tests.support.counters import RAIN, publish_counter, publish_weather, save_counts, save_keys

KEY = "rain_drops:city:111222"
OTHER = "rain_drops:city:<script>"
DRAFT = "/counters-draft"


async def rained(open_desk: Desk) -> None:
    definition = await publish_counter(open_desk.pool, RAIN, await publish_weather(open_desk.pool))
    rows = [
        (grain, f"2026-09-01T{hour}:00:00+00:00", count)
        for hour, count in (("00", 3), ("02", 4))
        for grain in ("quarters", "hours")
    ]
    await save_counts(open_desk.pool, definition, KEY, [*rows, ("days", "2026-09-01T00:00:00+00:00", 7)])


def asked(
    keys: str = KEY, begin: str = "2026-09-01T00:00Z", end: str = "2026-09-01T03:00Z", step: str = "hours"
) -> str:
    return f"/counters?{urlencode({'keys': keys, 'from': begin, 'to': end, 'step': step})}"


@pytest.mark.parametrize(
    ("step", "end", "counts"),
    [
        ("hours", "2026-09-01T03:00Z", [3, 0, 4]),
        ("quarters", "2026-09-01T00:30Z", [3, 0]),
        ("hours", "2026-09-01T02:30Z", [3, 0, 4]),
        ("days", "2026-09-03T00:00Z", [7, 0]),
    ],
)
async def test_a_chart_has_the_count_of_each_step(pool: Pool, step: str, end: str, counts: list[int]) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann = await open_desk.inside("ann", "viewer")
        here = asked(f"{KEY} {OTHER}", end=end, step=step)
        drawn = (await ann.twin(here)).json()["chart"]["value"]
        assert [each["values"] for each in drawn["lines"]] == [counts, [0] * len(counts)]
        assert len(drawn["times"]) == len(counts)
        assert "<script>" not in (await ann.see(here)).text.partition("<body>")[2]


@pytest.mark.parametrize(
    ("here", "field"),
    [
        (asked("nothing:like:it"), "keys"),
        (asked(" ".join([KEY] * 5)), "keys"),
        (asked(begin="yesterday"), "from"),
        (asked(begin="2026-09-01T00:00"), "from"),
        (asked(end="2026-08-01T00:00Z"), "from"),
        (asked(begin="2025-09-01T00:00Z"), "from"),
        (asked(step="years"), "from"),
    ],
)
async def test_what_cannot_be_drawn_is_said_beside_its_field(pool: Pool, here: str, field: str) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann = await open_desk.inside("ann", "viewer")
        said = await ann.twin(here)
        assert (said.status_code, list(said.json()["form"]["wrong"])) == (422, [field])


async def test_a_chart_without_an_end_has_what_was_counted_so_far(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        definition = await publish_counter(open_desk.pool, RAIN, await publish_weather(open_desk.pool))
        now = open_desk.clock.now()
        quarter = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)
        await save_counts(open_desk.pool, definition, KEY, [("quarters", quarter.isoformat(), 3)])
        ann = await open_desk.inside("ann", "viewer")
        begin = (quarter - timedelta(minutes=15)).isoformat()
        here = f"/counters?{urlencode({'keys': KEY, 'from': begin, 'step': 'quarters'})}"
        chart = (await ann.twin(here)).json()["chart"]["value"]
        (drawn,) = chart["lines"]
        assert (sum(drawn["values"]), chart["is_open"]) == (3, True)
        assert "The last step has not ended." in (await ann.see(here)).text


async def test_days_of_two_zones_begin_at_times_of_their_own(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        weather = await publish_weather(open_desk.pool)
        rain = await publish_counter(open_desk.pool, RAIN, weather)
        await save_counts(open_desk.pool, rain, KEY, [("days", "2026-09-01T00:00:00Z", 7)])
        elsewhere = {**RAIN, "id": 35, "name": "delhi", "template": "delhi:{city_id}", "timezone": "Asia/Kolkata"}
        definition = await publish_counter(open_desk.pool, elsewhere, weather)
        await save_counts(open_desk.pool, definition, "delhi:1", [("days", "2026-08-31T18:30:00Z", 5)])
        ann = await open_desk.inside("ann", "viewer")
        drawn = (await ann.twin(asked(f"{KEY} delhi:1", end="2026-09-01T12:00Z", step="days"))).json()["chart"]["value"]
        assert [each["values"] for each in drawn["lines"]] == [[None, 7], [5, None]]


async def test_the_page_of_a_counter_has_its_keys_and_the_largest_counts_of_the_last_day(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        definition = await publish_counter(open_desk.pool, RAIN, await publish_weather(open_desk.pool))
        now = open_desk.clock.now()
        hour = (now - timedelta(hours=2)).replace(minute=0, second=0, microsecond=0).isoformat()
        keys = [f"rain_drops:city:{city:02}" for city in range(60)]
        await save_keys(open_desk.pool, definition, keys)
        for key, count in ((keys[3], 7), (keys[50], 70)):
            await save_counts(open_desk.pool, definition, key, [("hours", hour, count)])
        ann = await open_desk.inside("ann", "viewer")
        page = (await ann.twin("/counters/count_rain_drops")).json()
        assert [(each["key"], each["units"]) for each in page["top"]["value"]["keys"]] == [(keys[50], 70), (keys[3], 7)]
        assert page["keys"]["value"] == {"keys": keys[:50], "next": keys[49]}
        more = (await ann.twin(f"/counters/count_rain_drops?{urlencode({'after': keys[49]})}")).json()
        assert more["keys"]["value"] == {"keys": keys[50:], "next": None}
        assert keys[50] in (await ann.see("/counters/count_rain_drops")).text


async def test_counters_are_for_those_whose_role_holds_everywhere(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann, eve = await open_desk.inside("ann", "viewer"), await open_desk.inside("eve", "viewer:SG")
        for path in ("/counters", "/counters/count_rain_drops", asked()):
            assert [(await each.twin(path)).status_code for each in (ann, eve)] == [200, 403]
        assert (await ann.twin("/counters/nothing")).status_code == 404


async def test_counts_are_taken_away_as_csv(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann = await open_desk.inside("ann", "viewer")
        here = asked().replace("/counters?", "/counters/counts.csv?")
        assert "counts.csv?" in (await ann.see(asked())).text
        taken = await ann.see(here)
        assert (taken.status_code, taken.headers["content-type"]) == (200, "text/csv; charset=utf-8")
        assert "attachment" in taken.headers["content-disposition"]
        assert taken.text.splitlines() == [
            f"from,{KEY}",
            "2026-09-01T00:00:00+00:00,3",
            "2026-09-01T01:00:00+00:00,0",
            "2026-09-01T02:00:00+00:00,4",
        ]
        assert (await ann.see("/counters/counts.csv")).status_code == 404


async def test_a_counter_is_written_in_fields_and_its_page_tells_what_changed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann = await open_desk.inside("ann", "operator")
        begun = (await ann.twin(DRAFT)).json()
        assert begun["faults"] == {"at": {}, "elsewhere": []}
        text = begun["draft"]["text"]
        spent = {"doc.name": "spent", "doc.add/either": "1", "act": "check"}
        changed = (await ann.send_for_twin(DRAFT, DRAFT, text=text, shown=text, **spent)).json()["draft"]["text"]
        typed = {"doc.add": "var.amount", "act": "check"}
        text = (await ann.send_for_twin(DRAFT, DRAFT, text=changed, shown=changed, **typed)).json()["draft"]["text"]
        assert (await ann.submit(DRAFT, DRAFT, text)).headers["location"] == "/counters/spent"
        text = (await ann.twin(f"{DRAFT}?of=spent")).json()["draft"]["text"].replace("UTC", "Asia/Singapore")
        assert (await ann.submit(DRAFT, DRAFT, text)).status_code == 303
        second, first = ((each["told"]) for each in (await ann.twin("/counters/spent")).json()["versions"])
        assert (second["label"], second["against"]) == ("spent@2", "spent@1")
        assert second["changes"] == [{"where": "Time zone", "was": "UTC", "now": "Asia/Singapore"}]
        assert [f"{each['begins']} {each['says']}" for each in first["sentences"]][:3] == [
            "The counter spent, number 1",
            "counts transactions/transaction.completed",
            "adding var.amount with 2 decimals",
        ]


async def test_a_copy_of_a_counter_has_a_number_and_keys_of_its_own(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await rained(open_desk)
        ann = await open_desk.inside("ann", "operator")
        copy = (await ann.twin(f"{DRAFT}?of=count_rain_drops&copy=yes")).json()
        assert copy["faults"] == {"at": {}, "elsewhere": []}
        for said in ("id = 1\n", 'name = "count_rain_drops_1"', 'template = "count_rain_drops_1:rain_drops:city:'):
            assert said in copy["draft"]["text"]
        text = copy["draft"]["text"].replace("id = 1\n", "id = 34\n")
        taken = (await ann.send_for_twin(DRAFT, DRAFT, text=text, shown=text, act="check")).json()
        assert list(taken["faults"]["at"]) == ["name"]

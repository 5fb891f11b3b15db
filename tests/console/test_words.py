"""How pages write a moment and a name, and what they say of what was just done."""

from datetime import datetime

import pytest

from abacus.console.decide.dates import Manner, manner_of, shown
from abacus.console.decide.names import named
from abacus.console.web.calls import Call
from abacus.console.web.page import See
from abacus.console.web.routes import form
from abacus.platform.postgres import Pool
from tests.console.desk import desk, token_in

NOW = datetime.fromisoformat("2026-07-03T14:30:00+08:00")
SINGAPORE = Manner("Asia/Singapore")


@pytest.mark.parametrize(
    ("moment", "text", "since"),
    [
        ("2026-07-03T14:29:30+08:00", "just now", "14:29"),
        ("2026-07-03T14:18:00+08:00", "12 minutes ago", "14:18"),
        ("2026-07-03T14:31:10+08:00", "in 1 minute", "14:31"),
        ("2026-07-03T09:05:00+08:00", "today 09:05", "09:05"),
        ("2026-07-02T23:05:00+08:00", "yesterday 23:05", "yesterday 23:05"),
        ("2026-07-04T00:05:00+08:00", "tomorrow 00:05", "tomorrow 00:05"),
        ("2026-03-04T12:00:00+08:00", "4 Mar 12:00", "4 Mar 12:00"),
        ("2025-03-04T12:00:00+08:00", "4 Mar 2025 12:00", "4 Mar 2025 12:00"),
    ],
)
def test_a_moment_is_written_as_people_say_it(moment: str, text: str, since: str) -> None:
    found = shown(datetime.fromisoformat(moment), NOW, SINGAPORE)
    assert (found.text, found.since) == (text, since)


@pytest.mark.parametrize(
    ("accepted", "text"),
    [
        ("", "4 Mar 2025 13:05"),
        ("de-DE,de;q=0.9", "4 Mar 2025 13:05"),
        ("en-US,en;q=0.5", "Mar 4, 2025 1:05 pm"),
        ("zh-Hant-TW", "4 Mar 2025 13:05"),
        ("en-SG", "4 Mar 2025 1:05 pm"),
        ("x" * 300, "4 Mar 2025 13:05"),
    ],
)
def test_a_locale_has_its_form(accepted: str, text: str) -> None:
    at = datetime.fromisoformat("2025-03-04T13:05:00+08:00")
    assert shown(at, NOW, manner_of(accepted, "Asia/Singapore")).text == text


@pytest.mark.parametrize(
    ("zone", "full", "differs"),
    [
        ("Asia/Singapore", "Friday 3 July 2026, 09:00:00 UTC+08", False),
        ("Asia/Jakarta", "Friday 3 July 2026, 09:00:00 UTC+08; in ID Friday 3 July 2026, 08:00:00 WIB", True),
    ],
)
def test_the_countrys_time_stands_behind(zone: str, full: str, differs: bool) -> None:  # noqa: FBT001  # a row
    found = shown(datetime.fromisoformat("2026-07-03T01:00:00+00:00"), NOW, SINGAPORE, "ID", zone)
    assert (found.full, found.differs) == (full, differs)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("person:cleo", "cleo"),
        ("login:root@host", "root@host (command line)"),
        ("partner:acme", "acme (partner)"),
        ("campaign:market", "market (campaign)"),
        ("member:bob", "bob"),
        ("stream", "transactions"),
        ("cleo", "cleo"),
        ("txn:rides:7", "txn:rides:7"),
        (None, ""),
    ],
)
def test_a_source_is_a_name(source: str | None, name: str) -> None:
    assert named(source) == name


async def _sit(call: Call) -> See:
    return See("/me?seated=1", f"{call.actor.name} <sits>.")


async def test_what_was_done_is_said_once_on_the_page_that_follows(pool: Pool) -> None:
    async with desk(pool, more=[form("/sit", _sit)]) as open_desk:
        eve = await open_desk.inside("eve", "viewer")
        token = token_in((await eve.see("/me")).text)
        assert (await eve.client.post("/sit", data={"form": token})).status_code == 303
        assert (await eve.twin("/campaigns")).json()["said"] is None
        first, second = await eve.see("/me?seated=1"), await eve.see("/me")
        assert "eve &lt;sits&gt;." in first.text
        assert "sits" not in second.text

"""`abacus notify` and the notifier's settings, as people and scripts meet them."""

from pathlib import Path

import pytest

from abacus.engage.notify.decide.message import ChannelName
from abacus.platform.postgres import Pool
from tests.engage.notify.telling import earned, enter_and_gather
from tests.support.commands import DOWN, abacus

KAFKA = "127.0.0.1:1"
WEBHOOK = {"ABACUS_NOTIFY_CHANNELS": "webhook", "ABACUS_NOTIFY_WEBHOOK_SECRET": "whsec_" + "QUJD" * 10}


async def test_preview(tmp_path: Path) -> None:
    ran = await abacus("notify", "preview", "earned")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "You earned 1,250 points")
    ran = await abacus("notify", "preview", "expiring", "--locale", "id", "--channel", "sns", "--json")
    assert ran.json["title"] == "1.250 poin akan kedaluwarsa pada 31 Juli 2026"
    assert '"type":"member.notification"' in ran.json["carried"]
    (tmp_path / "earned.en.txt").write_text("Hurray\n{{ number(points) }} more\n")
    ran = await abacus("notify", "preview", "earned", env={"ABACUS_TEMPLATES_DIR": str(tmp_path)})
    assert ran.out == "Hurray\n1,250 more\n"
    (tmp_path / "earned.en.txt").write_text("Hurray\n{{ pionts }} more\n")
    ran = await abacus("notify", "preview", "earned", env={"ABACUS_TEMPLATES_DIR": str(tmp_path)})
    assert (ran.code, ran.err.startswith("abacus: ABACUS_TEMPLATES_DIR: ")) == (2, True)
    assert "earned.en.txt: 'pionts' is no field of earned" in ran.err
    assert (await abacus("notify", "preview", "lottery")).code == 2


async def test_what_is_parked_is_listed_and_sent_again(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    both = (ChannelName.LOG, ChannelName.SNS)
    await enter_and_gather(pool, earned("bob", 1), earned("eve", 1), channels=both)
    assert (await abacus("notify", "parked", "--json", env=env)).json == []
    await pool.execute("update notification set parked_at = now(), last_error = 'no answer', attempts = 9")
    listed = (await abacus("notify", "parked", "--channel", "sns", "--json", env=env)).json
    assert [(each["channel"], each["attempts"], each["reason"]) for each in listed] == [("sns", 9, "no answer")] * 2
    shown = await abacus("notify", "parked", env=env)
    assert all(each["message_id"] in shown.out for each in listed)

    assert (await abacus("notify", "resend", env=env)).err == "abacus: say which: ids of parked messages, or --all\n"
    unknown = await abacus("notify", "resend", "ntf_x", env=env)
    assert (unknown.code, "there is no parked message 'ntf_x'" in unknown.err) == (1, True)
    one = await abacus("notify", "resend", listed[0]["message_id"], "--channel", "sns", env=env)
    assert one.out == "1 message due now\n"
    assert (await abacus("notify", "resend", "--all", "--json", env=env)).json == {"due": 3}
    assert await pool.fetchval("select count(*) from notification where parked_at is not null") == 0
    down = await abacus("notify", "parked", env={"ABACUS_DATABASE_URL": DOWN})
    assert (down.code, down.err.startswith("abacus: database unavailable")) == (1, True)


@pytest.mark.parametrize(
    ("env", "line"),
    [
        ({"ABACUS_KAFKA_BOOTSTRAP": ""}, "ABACUS_KAFKA_BOOTSTRAP is not set"),
        ({"ABACUS_NOTIFY_CHANNELS": "fax"}, "ABACUS_NOTIFY_CHANNELS: a text of another form is needed"),
        (
            {"ABACUS_NOTIFY_CHANNELS": "log,sns"},
            "ABACUS_SNS_TOPIC_ARN is not set, and ABACUS_NOTIFY_CHANNELS names sns",
        ),
        (WEBHOOK, "ABACUS_NOTIFY_WEBHOOK_URL is not set, and ABACUS_NOTIFY_CHANNELS names webhook"),
        (
            {**WEBHOOK, "ABACUS_NOTIFY_WEBHOOK_URL": "http://hooks.example/"},
            "ABACUS_NOTIFY_WEBHOOK_URL: 'http://hooks.example/': an address of the form https://host/path is needed",
        ),
        ({"ABACUS_NOTIFY_RATES": "log=fast"}, "ABACUS_NOTIFY_RATES: 'log=fast': entries like sns=50/s"),
        ({"ABACUS_TEMPLATES_DIR": "/nowhere"}, "ABACUS_TEMPLATES_DIR: /nowhere: No such file or directory"),
    ],
)
async def test_a_setting_that_is_wrong_stops_the_start_with_one_line(env: dict[str, str], line: str) -> None:
    given = {"ABACUS_DATABASE_URL": DOWN, "ABACUS_KAFKA_BOOTSTRAP": KAFKA, **env}
    ran = await abacus("worker", "notifier", env=given)
    assert ran.code == 2
    assert ran.err.startswith(f"abacus: {line}")
    assert ran.err.count("\n") == 1

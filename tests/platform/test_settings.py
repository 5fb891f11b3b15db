"""Settings: the values of the environment, or one line that names the setting that is wrong."""

import os
from pathlib import Path
from typing import Any

import pytest

from abacus.core.errors import Refused
from abacus.platform.settings import Settings, read_settings


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith("ABACUS_"):
            monkeypatch.delenv(name)


def test_what_holds_when_nothing_is_set() -> None:
    assert read_settings().model_dump() == {
        "database_url": None,
        "people_database_url": None,
        "console_database_url": None,
        "read_database_url": None,
        "kafka_bootstrap": None,
        "sqs_endpoint_url": None,
        "queue_prefix": "abacus-",
        "transactions_topic": "abacus.transactions.v1",
        "points_topic": "abacus.points.v1",
        "generation_transfers": 10_000_000,
        "tiers_topic": "abacus.tiers.v1",
        "events_topic": "abacus.events.v1",
        "positions_topic": "abacus.positions.v1",
        "api_host": "127.0.0.1",
        "api_port": 8080,
        "api_public_url": None,
        "counts_host": "127.0.0.1",
        "counts_port": 8082,
        "offers_host": "127.0.0.1",
        "offers_port": 8084,
        "places_host": "127.0.0.1",
        "places_port": 8085,
        "counts_timeout_seconds": 1,
        "counts_late_hours": 3,
        "counts_cache_parts": 100_000,
        "caches_redis_url": None,
        "counts_redis_url": None,
        "console_host": "127.0.0.1",
        "console_port": 8083,
        "console_public_url": None,
        "console_behind_proxy": False,
        "console_idle_minutes": 60,
        "console_session_hours": 12,
        "console_errands_open": 10,
        "console_errands_per_hour": 60,
        "console_code_for": None,
        "console_owner_database_url": None,
        "console_oidc_issuer": None,
        "console_oidc_client_id": None,
        "console_oidc_client_secret": None,
        "console_oidc_id_claim": "email",
        "console_oidc_groups_claim": "groups",
        "console_oidc_groups": "{}",
        "health_port": None,
        "api_head_bytes": 16 * 1024,
        "api_head_seconds": 10,
        "api_body_seconds": 30,
        "api_idle_seconds": 75,
        "api_connections": 1000,
        "api_connections_per_address": 200,
        "log_format": "console",
        "server_connections": 4,
        "quarantine_share": 0.5,
        "adjustment_limit": 10_000,
        "reversal_limit": 10_000,
        "alone_actor_day": 50_000,
        "alone_actor_month": 500_000,
        "alone_member_day": 20_000,
        "alone_member_month": 50_000,
        "approval_independence_days": 30,
        "approval_pending_days": 14,
        "limits_need_approval": False,
        "cards_need_approval": False,
        "assumptions_need_approval": False,
        "closes_need_approval": False,
        "token": None,
        "people_required": False,
        "retry_hours": 24,
        "campaign_uncounted_from": 100_000,
        "campaign_counter_wait_seconds": 3,
        "secrets_key": None,
        "envelope_keys": "",
        "engage_keep_days": 400,
        "undelivered_keep_days": 180,
        "replayed_keep_days": 400,
        "database_disk_gb": None,
        "webhooks_to_private": False,
        "notify_channels": "log",
        "notify_rates": "",
        "notify_timezone": "UTC",
        "notify_gather_seconds": 3,
        "notify_park_hours": 24,
        "notify_keep_days": 60,
        "notify_webhook_url": None,
        "notify_webhook_secret": None,
        "counter_repeat_hours": 24,
        "counter_open_rows": 1_000_000,
        "counter_store": "postgres",
        "cassandra_hosts": None,
        "cassandra_port": 9042,
        "cassandra_keyspace": "abacus",
        "cassandra_datacenter": None,
        "cassandra_user": None,
        "cassandra_password": None,
        "templates_dir": None,
        "sns_topic_arn": None,
        "sns_endpoint_url": None,
    }


SECRET = "whsec_" + "QUJD" * 8
KEYS = f"k2:{'QUJD' * 10}QUE=,k1:{'QUJE' * 10}QUE="
ARN = "arn:aws:sns:ap-southeast-1:123456789012:members"
RIGHT = [
    ("ABACUS_DATABASE_URL", "postgresql://abacus@db:5432/abacus", "postgresql://abacus@db:5432/abacus"),
    ("ABACUS_DATABASE_URL", "postgres://abacus@db/abacus", "postgresql://abacus@db/abacus"),
    ("ABACUS_DATABASE_URL", "postgresql:///abacus?host=/run/postgresql", "postgresql:///abacus?host=/run/postgresql"),
    ("ABACUS_DATABASE_URL", "", None),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka:9092", "kafka:9092"),
    ("ABACUS_KAFKA_BOOTSTRAP", "a:1,b:2", "a:1,b:2"),
    ("ABACUS_KAFKA_BOOTSTRAP", "[::1]:9092", "[::1]:9092"),
    ("ABACUS_SQS_ENDPOINT_URL", "http://localhost:4566/", "http://localhost:4566"),
    ("ABACUS_QUEUE_PREFIX", "blue_green-1-", "blue_green-1-"),
    ("ABACUS_TRANSACTIONS_TOPIC", "rides.transactions_v2", "rides.transactions_v2"),
    ("ABACUS_API_HOST", " 0.0.0.0\n", "0.0.0.0"),  # noqa: S104  # a container listens everywhere
    ("ABACUS_API_PORT", " 80 ", 80),
    ("ABACUS_API_PORT", "0", 0),
    ("ABACUS_API_PUBLIC_URL", "https://points.example.com/", "https://points.example.com"),
    ("ABACUS_HEALTH_PORT", "9090", 9090),
    ("ABACUS_LOG_FORMAT", "json", "json"),
    ("ABACUS_QUARANTINE_SHARE", "1", 1),
    ("ABACUS_QUARANTINE_SHARE", "0.05", 0.05),
    ("ABACUS_RETRY_HOURS", "336", 336),
    ("ABACUS_RETRY_HOURS", "0.5", 0.5),
    ("ABACUS_WEBHOOKS_TO_PRIVATE", "true", True),
    ("ABACUS_WEBHOOKS_TO_PRIVATE", "0", False),
    ("ABACUS_NOTIFY_CHANNELS", "log, sns,webhook", "log, sns,webhook"),
    ("ABACUS_NOTIFY_TIMEZONE", "Asia/Singapore", "Asia/Singapore"),
    ("ABACUS_NOTIFY_GATHER_SECONDS", "0", 0),
    ("ABACUS_NOTIFY_KEEP_DAYS", "31", 31),
    ("ABACUS_NOTIFY_WEBHOOK_SECRET", SECRET, SECRET),
    ("ABACUS_SECRETS_KEY", KEYS, KEYS),
    ("ABACUS_COUNTER_STORE", "cassandra", "cassandra"),
    ("ABACUS_CASSANDRA_HOSTS", "10.0.0.1, ring.example.com,::1", "10.0.0.1, ring.example.com,::1"),
    ("ABACUS_CASSANDRA_KEYSPACE", "counters_2", "counters_2"),
    ("ABACUS_CASSANDRA_DATACENTER", "eu-west_1", "eu-west_1"),
    ("ABACUS_TEMPLATES_DIR", "/etc/abacus/templates", Path("/etc/abacus/templates")),
    ("ABACUS_SNS_TOPIC_ARN", "arn:aws:sns:ap-southeast-1:123456789012:members", ARN),
    ("ABACUS_SNS_ENDPOINT_URL", "http://localhost:4566/", "http://localhost:4566"),
]


@pytest.mark.parametrize(("name", "value", "outcome"), RIGHT)
def test_right_values(monkeypatch: pytest.MonkeyPatch, name: str, value: str, outcome: Any) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(read_settings(), name.removeprefix("ABACUS_").lower()) == outcome


DATABASE = "an address of the form postgresql://user@host:port/database is needed"
SERVERS = "servers of the form host:port, separated by commas, are needed"
ENDPOINT = "an address of the form http://host:port is needed"
WRONG = [
    ("ABACUS_DATABASE_URL", "mysql://db/abacus", DATABASE),
    ("ABACUS_DATABASE_URL", "db:5432", DATABASE),
    ("ABACUS_DATABASE_URL", "   ", DATABASE),
    ("ABACUS_DATABASE_URL", "postgresql+asyncpg://db/abacus", DATABASE),
    ("ABACUS_DATABASE_URL", "postgresql://db:notaport/abacus", DATABASE),
    ("ABACUS_DATABASE_URL", "postgresql://[::1/abacus", DATABASE),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka", SERVERS),
    ("ABACUS_KAFKA_BOOTSTRAP", ":9092", SERVERS),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka:9092,", SERVERS),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka:port", SERVERS),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka:²", SERVERS),
    ("ABACUS_KAFKA_BOOTSTRAP", "kafka:99999", SERVERS),
    ("ABACUS_SQS_ENDPOINT_URL", "localhost:4566", ENDPOINT),
    ("ABACUS_SQS_ENDPOINT_URL", "http://", ENDPOINT),
    ("ABACUS_COUNTER_STORE", "redis", "Input should be 'postgres' or 'cassandra', not 'redis'"),
    ("ABACUS_CASSANDRA_HOSTS", "a,,b", "a text of another form is needed"),
    ("ABACUS_CASSANDRA_HOSTS", "a/b", "a text of another form is needed"),
    ("ABACUS_CASSANDRA_KEYSPACE", "a; drop", "a text of another form is needed"),
    ("ABACUS_CASSANDRA_DATACENTER", "x'", "a text of another form is needed"),
    ("ABACUS_QUEUE_PREFIX", "a b", "a text of another form is needed"),
    ("ABACUS_QUEUE_PREFIX", "a" * 41, "a text of another form is needed"),
    ("ABACUS_TRANSACTIONS_TOPIC", "a/b", "a text of another form is needed"),
    ("ABACUS_POINTS_TOPIC", "a,b", "a text of another form is needed"),
    ("ABACUS_TIERS_TOPIC", "a" * 201, "a text of another form is needed"),
    ("ABACUS_API_PORT", "http", "Input should be a valid integer, unable to parse string as an integer, not 'http'"),
    ("ABACUS_API_PORT", "-1", "Input should be greater than or equal to 0, not '-1'"),
    ("ABACUS_API_PORT", "65536", "Input should be less than or equal to 65535, not '65536'"),
    ("ABACUS_API_PORT", "1" * 5000, "exceeded maximum size"),
    ("ABACUS_API_PUBLIC_URL", "points.example.com", ENDPOINT),
    ("ABACUS_HEALTH_PORT", "0", "Input should be greater than or equal to 1, not '0'"),
    ("ABACUS_LOG_FORMAT", "xml", "Input should be 'console' or 'json', not 'xml'"),
    ("ABACUS_LOG_FORMAT", "js\non", r"not 'js\non'"),
    ("ABACUS_QUARANTINE_SHARE", "0", "Input should be greater than 0, not '0'"),
    ("ABACUS_QUARANTINE_SHARE", "1.01", "Input should be less than or equal to 1, not '1.01'"),
    ("ABACUS_QUARANTINE_SHARE", "50%", "Input should be a valid number"),
    ("ABACUS_QUARANTINE_SHARE", "nan", "not 'nan'"),
    ("ABACUS_RETRY_HOURS", "0", "Input should be greater than 0, not '0'"),
    ("ABACUS_RETRY_HOURS", "inf", "not 'inf'"),
    ("ABACUS_RETRY_HOURS", "a day", "Input should be a valid number"),
    ("ABACUS_NOTIFY_CHANNELS", "log;sns", "a text of another form is needed"),
    *(
        ("ABACUS_NOTIFY_TIMEZONE", zone, "a time zone such as Asia/Singapore is needed")
        for zone in ("Singapore time", "Asia", "../UTC", "Asia/Singapore/North")
    ),
    ("ABACUS_NOTIFY_GATHER_SECONDS", "-1", "Input should be greater than or equal to 0, not '-1'"),
    ("ABACUS_NOTIFY_PARK_HOURS", "0", "Input should be greater than 0, not '0'"),
    ("ABACUS_NOTIFY_KEEP_DAYS", "30", "Input should be greater than or equal to 31, not '30'"),
    ("ABACUS_SECRETS_KEY", "k1:c2hvcnQ=", "ID:KEY,ID:KEY… is needed: each id once"),
    ("ABACUS_SECRETS_KEY", f"{KEYS},k2:{SECRET}", "ID:KEY,ID:KEY… is needed: each id once"),
    ("ABACUS_NOTIFY_WEBHOOK_SECRET", "whsec_c2hvcnQ=", "whsec_ and 24 to 64 bytes in base64 are needed"),
    ("ABACUS_NOTIFY_WEBHOOK_SECRET", SECRET.removeprefix("whsec_"), "whsec_ and 24 to 64 bytes in base64 are needed"),
    ("ABACUS_NOTIFY_WEBHOOK_SECRET", "whsec_not base64", "whsec_ and 24 to 64 bytes in base64 are needed"),
    ("ABACUS_SNS_TOPIC_ARN", "members", "a text of another form is needed"),
    ("ABACUS_SNS_TOPIC_ARN", ARN + ".fifo", "a text of another form is needed"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG, ids=[f"{name}={value[:20]}" for name, value, _ in WRONG])
def test_wrong_values(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Refused) as refused:
        read_settings()
    line = str(refused.value)
    assert line.startswith(f"{name}: ")
    assert message in line
    assert line.isprintable()
    assert len(line) < 300


def test_of_several_wrong_ones_the_line_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_API_PORT", "http")
    monkeypatch.setenv("ABACUS_LOG_FORMAT", "xml")
    with pytest.raises(Refused, match=r"^ABACUS_API_PORT: .* not 'http' \(and 1 more\)$"):
        read_settings()


@pytest.mark.parametrize("url", ["mysql://abacus:s3cret@db/abacus", "postgresql+asyncpg://abacus:s3cret@db/abacus"])
def test_a_password_is_not_repeated(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ABACUS_DATABASE_URL", url)
    with pytest.raises(Refused) as refused:
        read_settings()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("set_", "outcome"),
    [
        ({"database_url": "postgresql://db/abacus", "kafka_bootstrap": "kafka:9092"}, None),
        ({"kafka_bootstrap": "kafka:9092"}, "ABACUS_DATABASE_URL is not set"),
        ({"database_url": "postgresql://db/abacus"}, "ABACUS_KAFKA_BOOTSTRAP is not set"),
    ],
    ids=["both", "no database", "no Kafka"],
)
def test_what_is_about_to_run_names_what_it_misses(set_: dict[str, str], outcome: str | None) -> None:
    settings = Settings.model_validate(set_)
    try:
        values = (settings.required("database_url"), settings.required("kafka_bootstrap"))
    except Refused as refused:
        assert str(refused) == outcome  # noqa: PT017  # the other rows raise nothing
    else:
        assert (values, outcome) == (tuple(set_.values()), None)


def test_a_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_NOTIFY_WEBHOOK_SECRET", "s3cret")
    with pytest.raises(Refused) as refused:
        read_settings()
    assert "s3cret" not in str(refused.value)

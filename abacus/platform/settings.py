"""Settings, from the environment, read once. `bootstrap`, the command line and the workers are the only readers."""

from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from abacus.core.errors import Refused
from abacus.core.points import MAX_POINTS
from abacus.core.signature import read_keys
from abacus.core.webhook_secret import is_webhook_secret
from abacus.platform.encryption import Keyring
from abacus.platform.validation import first_fault

PREFIX = "ABACUS_"


_LAST_PORT = 65535
_HIDDEN: Final = "(set)"
# Addresses may hold a password.
_SECRETS: Final = frozenset(
    {
        "caches_redis_url",
        "cassandra_password",
        "console_database_url",
        "console_oidc_client_secret",
        "console_owner_database_url",
        "counts_redis_url",
        "database_url",
        "envelope_keys",
        "notify_webhook_secret",
        "notify_webhook_url",
        "people_database_url",
        "read_database_url",
        "secrets_key",
        "token",
    }
)

Required = Literal[
    "cassandra_hosts",
    "database_url",
    "kafka_bootstrap",
    "notify_webhook_secret",
    "notify_webhook_url",
    "sns_topic_arn",
]


def _has_good_port(url: str) -> bool:
    try:
        port = urlsplit(url).port
    except ValueError:
        return False
    return port != 0


def _postgres_url(url: str) -> str:
    if not url.startswith(("postgresql://", "postgres://")) or not _has_good_port(url):
        raise ValueError("an address of the form postgresql://user@host:port/database is needed")
    return url.replace("postgres://", "postgresql://", 1)


def _http_url(url: str) -> str:
    if not url.startswith(("http://", "https://")) or not _has_good_port(url) or not urlsplit(url).hostname:
        raise ValueError("an address of the form http://host:port is needed")
    return url.rstrip("/")


def _redis_url(url: str) -> str:
    if not url.startswith(("redis://", "rediss://", "unix://")) or not _has_good_port(url):
        raise ValueError("an address of the form redis://host:port/number is needed")
    return url


def _bootstrap(servers: str) -> str:
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT):
            raise ValueError("servers of the form host:port, separated by commas, are needed")
    return servers


def _time_zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, ZoneInfoNotFoundError):  # "../etc", "Asia", "Mars/Olympus"
        raise ValueError("a time zone such as Asia/Singapore is needed") from None


def _webhook_secret(secret: str) -> str:
    if not is_webhook_secret(secret):
        raise ValueError("whsec_ and 24 to 64 bytes in base64 are needed")
    return secret


def _keyring(text: str) -> str:
    Keyring.parse(text)
    return text


def _envelope_keys(text: str) -> str:
    read_keys(text)
    return text


class Settings(BaseSettings):
    """One field a setting; its name in the environment is the field's in capitals with the prefix."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", env_ignore_empty=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  # as it is called
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment alone: to look for files that nobody has takes as long again."""
        return init_settings, env_settings

    database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    # Other logins to it, for commands that enter people and for the console; without them both use the workers'.
    people_database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    console_database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    # A replica of it, which pages of the console are read from.
    read_database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    kafka_bootstrap: Annotated[str, AfterValidator(_bootstrap)] | None = None
    sqs_endpoint_url: Annotated[str, AfterValidator(_http_url)] | None = None
    queue_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,40}$")] = "abacus-"
    transactions_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.transactions.v1"
    # With about so many transfers a generation of the ledger is full, and the next one is opened.
    generation_transfers: Annotated[int, Field(ge=1000, le=1_000_000_000)] = 10_000_000
    points_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.points.v1"
    tiers_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.tiers.v1"
    events_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.events.v1"
    positions_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.positions.v1"
    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    api_public_url: Annotated[str, AfterValidator(_http_url)] | None = None
    counts_host: str = "127.0.0.1"
    counts_port: Annotated[int, Field(ge=0, le=65535)] = 8082
    # How long a lookup waits for the store of counters.
    counts_timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 1
    # The hours after which counts are taken for final by the cache, the parts that a process keeps, and the cache that
    # processes share.
    counts_late_hours: Annotated[float, Field(ge=0, le=24 * 30)] = 3
    counts_cache_parts: Annotated[int, Field(ge=0, le=10_000_000)] = 100_000
    counts_redis_url: Annotated[str, AfterValidator(_redis_url)] | None = None
    caches_redis_url: Annotated[str, AfterValidator(_redis_url)] | None = None
    offers_host: str = "127.0.0.1"
    offers_port: Annotated[int, Field(ge=0, le=65535)] = 8084
    places_host: str = "127.0.0.1"
    places_port: Annotated[int, Field(ge=0, le=65535)] = 8085
    console_host: str = "127.0.0.1"
    console_port: Annotated[int, Field(ge=0, le=65535)] = 8083
    # The address that browsers use. With https, cookies go over https alone.
    console_public_url: Annotated[str, AfterValidator(_http_url)] | None = None
    # Whether the last address in X-Forwarded-For, which a proxy of ours wrote, is the browser's.
    console_behind_proxy: bool = False
    # A session ends when nobody used it for so long, and after so long in any case.
    console_idle_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 60
    console_session_hours: Annotated[float, Field(gt=0, le=24 * 31)] = 12
    # How many errands one person may have waiting and running, and may ask for in an hour.
    console_errands_open: Annotated[int, Field(ge=1, le=1000)] = 10
    console_errands_per_hour: Annotated[int, Field(ge=1, le=10_000)] = 60
    # The login that owns the tables, for erasing members and nothing else; without it a page names the command.
    console_owner_database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    # The roles that need an authenticator beside a password or a link, with commas between.
    console_code_for: Annotated[str, Field(pattern=r"^[a-z_]+(\s*,\s*[a-z_]+)*$")] | None = None
    # The provider of identities, what it knows the console by, and the roles of its groups as JSON.
    console_oidc_issuer: str | None = None
    console_oidc_client_id: str | None = None
    console_oidc_client_secret: str | None = None
    console_oidc_id_claim: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,100}$")] = "email"
    console_oidc_groups_claim: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,200}$")] = "groups"
    console_oidc_groups: str = "{}"
    health_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    # The limits of one caller and of all of them; times and numbers of connections that are 0 are not limited.
    api_head_bytes: Annotated[int, Field(ge=1024, le=256 * 1024)] = 16 * 1024
    api_head_seconds: Annotated[float, Field(ge=0, le=3600)] = 10
    api_body_seconds: Annotated[float, Field(ge=0, le=3600)] = 30
    api_idle_seconds: Annotated[float, Field(ge=0, le=3600)] = 75
    api_connections: Annotated[int, Field(ge=0)] = 1000
    api_connections_per_address: Annotated[int, Field(ge=0)] = 200
    log_format: Literal["console", "json"] = "console"
    # Connections of one pool to each server that has slices of the ledger.
    server_connections: Annotated[int, Field(ge=2, le=64)] = 4
    # The share of recent messages that may be set aside before the calculator stops; 1 never stops it.
    quarantine_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    # How long a transaction is retried before it goes to the quarantine.
    retry_hours: Annotated[float, Field(gt=0, le=24 * 14)] = 24
    # A campaign's limit of a member to this many runs or more is not counted.
    campaign_uncounted_from: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100_000
    # How long a campaign that asks a counter waits until the counter has come to the event; then it is decided later.
    campaign_counter_wait_seconds: Annotated[float, Field(ge=0, le=60)] = 3
    # How many points a person may add or take alone; more waits for a second person.
    adjustment_limit: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 10_000
    # How many points of one transfer a person may take back alone.
    reversal_limit: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 10_000
    # How many points one actor may adjust and take back alone on a day and in 30 days; and of one member.
    alone_actor_day: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 50_000
    alone_actor_month: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 500_000
    alone_member_day: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 20_000
    alone_member_month: Annotated[int, Field(ge=0, le=MAX_POINTS)] = 50_000
    # For how many days access that one person gave another ties the two, and after how many a pending approval ends.
    approval_independence_days: Annotated[int, Field(ge=0, le=366)] = 30
    approval_pending_days: Annotated[int, Field(ge=1, le=366)] = 14
    # What needs a second person beside large adjustments and reversals.
    limits_need_approval: bool = False
    cards_need_approval: bool = False
    assumptions_need_approval: bool = False
    closes_need_approval: bool = False
    # The person that commands act for, and whether commands that change anything need one.
    token: str | None = None
    people_required: bool = False
    # Partners' secrets are stored encrypted: `ID:KEY`, several with commas between. The first encrypts, all decrypt.
    secrets_key: Annotated[str, AfterValidator(_keyring)] | None = None
    # The keys with which producers sign envelopes and consumers check them; without keys, nobody signs.
    envelope_keys: Annotated[str, AfterValidator(_envelope_keys)] = ""
    # How many days rows stay by which nothing is paid or proven: those of campaigns and journeys, messages that were
    # given up, and items of the quarantine that were replayed. And how large the disks of the database are, together.
    engage_keep_days: Annotated[int, Field(ge=100, le=3650)] = 400
    undelivered_keep_days: Annotated[int, Field(ge=31, le=3650)] = 180
    replayed_keep_days: Annotated[int, Field(ge=90, le=3650)] = 400
    database_disk_gb: Annotated[float, Field(gt=0)] | None = None
    # Whether webhooks may lead into private networks, and go without TLS.
    webhooks_to_private: bool = False
    # Members are told over these channels, at these rates by hour of day, in the hours of this time zone.
    notify_channels: Annotated[str, Field(pattern=r"^(log|sns|webhook)(\s*,\s*(log|sns|webhook))*$")] = "log"
    notify_rates: str = ""
    notify_timezone: Annotated[str, AfterValidator(_time_zone)] = "UTC"
    # Notices of a member that come within this time become one message.
    notify_gather_seconds: Annotated[float, Field(ge=0, le=3600)] = 3
    # How long a message is tried before it is parked, and how long sent messages are kept.
    notify_park_hours: Annotated[float, Field(gt=0, le=24 * 14)] = 24
    notify_keep_days: Annotated[int, Field(ge=31, le=3650)] = 60
    notify_webhook_url: str | None = None
    notify_webhook_secret: Annotated[str, AfterValidator(_webhook_secret)] | None = None
    # How long the counter recognises an event that its sender repeats, at least, and how many rows it keeps in memory.
    counter_repeat_hours: Annotated[int, Field(ge=1, le=24 * 31)] = 24
    counter_open_rows: Annotated[int, Field(ge=10_000, le=100_000_000)] = 1_000_000
    # Where the rows of counters are, and how to reach them if that is Cassandra.
    counter_store: Literal["postgres", "cassandra"] = "postgres"
    cassandra_hosts: Annotated[str, Field(pattern=r"^[A-Za-z0-9.:-]+(\s*,\s*[A-Za-z0-9.:-]+)*$")] | None = None
    cassandra_port: Annotated[int, Field(ge=1, le=_LAST_PORT)] = 9042
    cassandra_keyspace: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")] = "abacus"
    cassandra_datacenter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")] | None = None
    cassandra_user: str | None = None
    cassandra_password: str | None = None
    # Templates that replace the shipped ones by name.
    templates_dir: Path | None = None
    sns_topic_arn: (
        Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$")] | None
    ) = None
    sns_endpoint_url: Annotated[str, AfterValidator(_http_url)] | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _stripped(cls, value: object) -> object:
        return value.strip() if isinstance(value, str) else value

    def required(self, name: Required) -> str:
        """A setting that has to be set. Raises `Refused` with its name."""
        value: str | None = getattr(self, name)
        if value is None:
            raise Refused(f"{PREFIX}{name.upper()} is not set")
        return value

    def environment(self) -> dict[str, str]:
        """What was set, as a child process finds it in its environment."""
        set_ = ((name, getattr(self, name)) for name in sorted(self.model_fields_set))
        return {f"{PREFIX}{name.upper()}": str(value) for name, value in set_ if value is not None}

    def told(self) -> dict[str, str]:
        """What was set, as everybody may know it: of secrets only that they are set."""
        return {
            name: _HIDDEN if name.removeprefix(PREFIX).lower() in _SECRETS else value
            for name, value in self.environment().items()
        }


def read_settings() -> Settings:
    """The settings in the environment. Raises `Refused` with one line that names the wrong setting."""
    try:
        return Settings()
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        what = first_fault(error, shown=field not in _SECRETS).partition(": ")[2]
        raise Refused(f"{PREFIX}{field.upper()}: {what}") from None

"""Settings, from the environment, read once. `bootstrap`, the command line and the workers are the only readers."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from abacus.core.errors import Refused
from abacus.validation import first_fault

PREFIX = "ABACUS_"


_LAST_PORT = 65535


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


def _bootstrap(servers: str) -> str:
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT):
            raise ValueError("servers of the form host:port, separated by commas, are needed")
    return servers


class Settings(BaseSettings):
    """One field a setting; its name in the environment is the field's in capitals with the prefix."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", env_ignore_empty=True)

    database_url: Annotated[str, AfterValidator(_postgres_url)] | None = None
    kafka_bootstrap: Annotated[str, AfterValidator(_bootstrap)] | None = None
    sqs_endpoint_url: Annotated[str, AfterValidator(_http_url)] | None = None
    queue_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,40}$")] = "abacus-"
    transactions_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.transactions.v1"
    points_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.points.v1"
    tiers_topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] = "abacus.tiers.v1"
    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    health_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    log_format: Literal["console", "json"] = "console"
    # The share of recent messages that may be set aside before the calculator stops; 1 never stops it.
    quarantine_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    # How long a transaction is retried before it goes to the quarantine.
    retry_hours: Annotated[float, Field(gt=0, le=24 * 14)] = 24
    # Whether webhooks may lead into private networks, and go without TLS.
    webhooks_to_private: bool = False

    @field_validator("*", mode="before")
    @classmethod
    def _stripped(cls, value: object) -> object:
        return value.strip() if isinstance(value, str) else value

    def required(self, name: Literal["database_url", "kafka_bootstrap"]) -> str:
        """A setting that what is about to run cannot do without. Raises `Refused` with its name."""
        value: str | None = getattr(self, name)
        if value is None:
            raise Refused(f"{PREFIX}{name.upper()} is not set")
        return value


def read_settings() -> Settings:
    """The settings in the environment. Raises `Refused` with one line that names the one that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        # A database's address may hold a password, so what was given is not repeated.
        what = first_fault(error, shown=field != "database_url").partition(": ")[2]
        raise Refused(f"{PREFIX}{field.upper()}: {what}") from None

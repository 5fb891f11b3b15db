"""What the settings come to, as values of the rooms. Opens nothing."""

from datetime import timedelta

from abacus.api.http.limits import HttpLimits
from abacus.ledger.types.alone import Alone, Sums
from abacus.oversight.status.sources import Group
from abacus.people.types.approval import Terms
from abacus.platform.settings import Settings
from abacus.signals.counters.store.cassandra.session import Address
from abacus.signals.counters.store.opening import Cluster
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.source import Source


def http_limits(settings: Settings) -> HttpLimits:
    """For every port of this process."""
    return HttpLimits(
        head_bytes=settings.api_head_bytes,
        head_s=settings.api_head_seconds,
        body_s=settings.api_body_seconds,
        idle_s=settings.api_idle_seconds,
        connections=settings.api_connections,
        connections_per_address=settings.api_connections_per_address,
    )


def built_in_sources(settings: Settings) -> list[Source]:
    """The event sources that are there from the start."""
    return built_in(
        transactions_topic=settings.transactions_topic,
        points_topic=settings.points_topic,
        tiers_topic=settings.tiers_topic,
    )


def alone_of(settings: Settings) -> Alone:
    """How many points somebody may move without a second person."""
    sums = Sums(
        actor_day=settings.alone_actor_day,
        actor_month=settings.alone_actor_month,
        member_day=settings.alone_member_day,
        member_month=settings.alone_member_month,
    )
    return Alone(settings.adjustment_limit, settings.reversal_limit, sums)


def terms_of(settings: Settings) -> Terms:
    """The terms of approvals."""
    return Terms(timedelta(days=settings.approval_pending_days), timedelta(days=settings.approval_independence_days))


def groups_of(settings: Settings) -> list[Group]:
    """The consumer groups whose lag people look at."""
    prefix = settings.queue_prefix
    return [
        Group(settings.transactions_topic, f"{prefix}calculator", "calculator"),
        Group(settings.points_topic, f"{prefix}tierkeeper", "tierkeeper"),
        Group(settings.points_topic, f"{prefix}webhooks", "webhooks"),
        Group(settings.points_topic, f"{prefix}notifier", "notifier"),
        Group(settings.tiers_topic, f"{prefix}notifier-tiers", "notifier"),
    ]


def cassandra_of(settings: Settings) -> Cluster | None:
    """Where the rows of counters are; None for Postgres. Raises `Refused` when the address is missing."""
    if settings.counter_store != "cassandra":
        return None
    hosts = [host.strip() for host in settings.required("cassandra_hosts").split(",")]
    address = Address(
        hosts,
        settings.cassandra_port,
        settings.cassandra_datacenter,
        settings.cassandra_user,
        settings.cassandra_password,
    )
    return Cluster(address, settings.cassandra_keyspace)

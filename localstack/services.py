"""The services: their configuration, start and readiness check. All listen on loopback."""

import asyncio
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import asyncpg
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from abacus.core.errors import Unavailable
from abacus.platform.embedded.postgres import DATABASE, SETTINGS, ensure_database, postgres_cluster
from abacus.platform.sqs.queue import reachable, sqs_client
from abacus.signals.counters.store.cassandra.session import Address, Session
from localstack import cassandra, java
from localstack.daemon import Daemon

HOME: Final = Path(__file__).parent.parent.resolve() / ".abacus" / "services"
HOST: Final = "127.0.0.1"
REGION: Final = "us-east-1"
OLDEST_POSTGRES: Final = 15

_READY_SECONDS: Final = 120.0
_LOOK_EVERY_SECONDS: Final = 0.3

KAFKA_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=BROKER://{host}:{broker},CONTROLLER://{host}:{controller}
advertised.listeners=BROKER://{host}:{broker}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
log.dirs={data}
num.partitions=6
auto.create.topics.enable=true
default.replication.factor=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
# As the embedded one: long enough that workers which start together are assigned together.
group.initial.rebalance.delay.ms=200
"""

ELASTICMQ_CONF: Final = """\
include classpath("application.conf")
node-address {{ protocol = http, host = "{host}", port = {port}, context-path = "" }}
rest-sqs {{ enabled = true, bind-hostname = "{host}", bind-port = {port} }}
rest-stats {{ enabled = false }}
aws {{ region = "{region}", accountId = "000000000000" }}
"""
# Keeps its messages over a restart, and looks at each of their characters.
ELASTICMQ_AS_SQS: Final = """\
rest-sqs {{ sqs-limits = strict }}
messages-storage {{ enabled = true, uri = "jdbc:h2:{home}/messages" }}
"""

ELASTICMQ_LIGHTLY: Final = """\
rest-sqs {{ sqs-limits = relaxed }}
pekko.actor.default-dispatcher.fork-join-executor {{ parallelism-min = 1, parallelism-max = 2 }}
"""

# Room for the indexes that every posting looks into, and seldom a checkpoint: after one, each page is logged whole when
# it is first changed.
POSTGRES_OF_A_LEDGER: Final[dict[str, str]] = {
    "shared_buffers": "1GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "30min",
    "max_connections": "300",  # crash points are tried in several houses at once
}


class Ports(NamedTuple):
    """The ports of the services."""

    kafka: int = 19092
    kafka_controller: int = 19093
    sqs: int = 19324
    postgres: int = 15432
    cassandra: int = 19042
    cassandra_storage: int = 19700

    @property
    def sqs_endpoint_url(self) -> str:
        return f"http://{HOST}:{self.sqs}"

    @property
    def database_url(self) -> str:
        return f"postgresql://postgres@{HOST}:{self.postgres}/{DATABASE}"


class Service(NamedTuple):
    """A daemon, the names of its ports, its start, and a check that raises `Unavailable` until it is ready. One that
    is optional is started when it is named.
    """

    daemon: Daemon
    ports: Sequence[str]
    start: Callable[[Daemon, Ports], None]
    use: Callable[[Ports], Awaitable[None]]
    optional: bool = False


def start_kafka(daemon: Daemon, ports: Ports) -> None:
    properties, data = daemon.home / "server.properties", daemon.home / "data"
    properties.write_text(
        KAFKA_PROPERTIES.format(host=HOST, broker=ports.kafka, controller=ports.kafka_controller, data=data),
        encoding="utf-8",
    )
    run = [java.program("java"), "-Xmx512m", "-Dlog4j2.level=WARN", "-cp", java.class_path(HOME / "jars", "kafka")]
    if not (data / "meta.properties").exists():
        options = ("format", "--cluster-id", "abacus-services-000000", "--config", str(properties))
        outcome = subprocess.run(  # noqa: S603  # Kafka's own tool
            [*run, "kafka.tools.StorageTool", *options], check=False, capture_output=True, text=True
        )
        if outcome.returncode != 0:
            raise Unavailable("Kafka", f"{data} cannot be formatted: {(outcome.stderr or outcome.stdout).strip()}")
    daemon.start([*run, "kafka.Kafka", str(properties)])


async def use_kafka(ports: Ports) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=f"{HOST}:{ports.kafka}")
    try:
        await admin.start()
        await admin.list_topics()
    except KafkaError as error:
        raise Unavailable("Kafka", str(error)) from error
    finally:
        await admin.close()


def start_elasticmq(daemon: Daemon, ports: Ports, *, manners: str = ELASTICMQ_AS_SQS) -> None:
    configuration = daemon.home / "elasticmq.conf"
    text = (ELASTICMQ_CONF + manners).format(host=HOST, port=ports.sqs, region=REGION, home=daemon.home)
    configuration.write_text(text, encoding="utf-8")
    jars = java.class_path(HOME / "jars", "elasticmq")
    run = [java.program("java"), "-Xmx1g", "-XX:+UseSerialGC", f"-Dconfig.file={configuration}", "-cp", jars]
    daemon.start([*run, "org.elasticmq.server.Main"])


async def use_elasticmq(ports: Ports) -> None:
    async with sqs_client(ports.sqs_endpoint_url) as client:
        with reachable():
            await client.list_queues()


def start_postgres(daemon: Daemon, ports: Ports, *, tuned: Mapping[str, str] = POSTGRES_OF_A_LEDGER) -> None:
    cluster = postgres_cluster(daemon.home / "cluster", durable=True, programs=distribution_postgres())
    cluster.prepare()
    compressed = "lz4" if distribution_postgres() else "pglz"  # the wheel's was built without the other
    settings = {
        **SETTINGS,
        "wal_compression": compressed,
        **tuned,
        "port": str(ports.postgres),
        "listen_addresses": HOST,
    }
    command = [cluster.program("postgres"), "-D", str(cluster.directory)]
    command += [f"--{name}={value}" for name, value in settings.items()]
    account = cluster.account
    daemon.start(command, user=account and account.pw_uid, group=account and account.pw_gid)


def distribution_postgres() -> Path | None:
    """The programs of the newest Postgres of the system; None if the wheel's shall be used."""
    versions = {int(path.parent.name): path for path in Path("/usr/lib/postgresql").glob("[0-9]*/bin")}
    if versions and max(versions) >= OLDEST_POSTGRES and (versions[max(versions)] / "initdb").exists():
        return versions[max(versions)]
    return None


async def use_postgres(ports: Ports) -> None:
    try:
        await ensure_database(ports.postgres)
    except (OSError, asyncpg.PostgresError) as error:
        raise Unavailable("Postgres", str(error)) from error


def start_cassandra(daemon: Daemon, ports: Ports) -> None:
    cassandra.start(daemon, HOME / "jars", host=HOST, native=ports.cassandra, storage=ports.cassandra_storage)


async def use_cassandra(ports: Ports) -> None:
    async with Session(Address((HOST,), ports.cassandra)) as session:
        await session.run("select release_version from system.local")


SERVICES: Final = (
    Service(Daemon("kafka", HOME / "kafka"), ("kafka", "kafka_controller"), start_kafka, use_kafka),
    Service(Daemon("elasticmq", HOME / "elasticmq"), ("sqs",), start_elasticmq, use_elasticmq),
    # On SIGTERM it would wait until the last client is gone.
    Service(Daemon("postgres", HOME / "postgres", signal.SIGINT), ("postgres",), start_postgres, use_postgres),
    Service(
        Daemon("cassandra", HOME / "cassandra"),
        ("cassandra", "cassandra_storage"),
        start_cassandra,
        use_cassandra,
        optional=True,
    ),
)
ALWAYS: Final = tuple(service for service in SERVICES if not service.optional)


async def ready(service: Service, ports: Ports) -> None:
    """Returns when the service can be used. Raises `Unavailable` with the end of its log."""
    daemon = service.daemon
    try:
        async with asyncio.timeout(_READY_SECONDS):
            while daemon.process() is not None:
                try:
                    return await service.use(ports)
                except Unavailable:
                    await asyncio.sleep(_LOOK_EVERY_SECONDS)
    except TimeoutError:
        why = f"not ready after {_READY_SECONDS:g} s"
    else:
        why = "ended early"
    raise Unavailable(daemon.name, f"{why}; the end of {daemon.log}:\n{daemon.log_tail()}")

"""Cassandra: one node on loopback, started as the daemon that its own script would start, without the script."""

from pathlib import Path
from typing import Final

from localstack import java
from localstack.daemon import Daemon

# `batch` answers a write when it is on the disk, as all other services here do.
CONFIGURATION: Final = """\
cluster_name: abacus
num_tokens: 1
initial_token: 0
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{host}:{storage}"}}]
listen_address: {host}
storage_port: {storage}
rpc_address: {host}
native_transport_port: {native}
data_file_directories: [{home}/data]
commitlog_directory: {home}/commitlog
saved_caches_directory: {home}/saved_caches
hints_directory: {home}/hints
cdc_raw_directory: {home}/cdc
commitlog_sync: batch
commitlog_segment_size: 8MiB
commitlog_total_space: 256MiB
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
file_cache_size: 32MiB
networking_cache_size: 32MiB
auto_snapshot: false
"""

_LOGGING: Final = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"""

# What Cassandra 5.0 needs of Java 17; without its script nobody else says so.
_OPENED: Final = ("sun.nio.ch", "jdk.internal.ref", "java.io")

# A cluster of one has nobody to wait for.
_ALONE: Final = ("ring_delay_ms=0", "skip_wait_for_gossip_to_settle=0", "initial_token=0", "superuser_setup_delay_ms=0")


def start(daemon: Daemon, jars: Path, *, host: str, native: int, storage: int) -> None:
    """Starts it with its configuration, log and data in the daemon's home."""
    home = daemon.home
    configuration, logging = home / "cassandra.yaml", home / "logback.xml"
    configuration.write_text(CONFIGURATION.format(host=host, native=native, storage=storage, home=home), "utf-8")
    logging.write_text(_LOGGING, "utf-8")
    run = [java.program("java"), "-Xms384m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"]
    run += ["-Djava.security.manager=allow"]
    run += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    run += [f"-Dcassandra.{setting}" for setting in _ALONE]
    run += [
        f"-Dcassandra.config=file://{configuration}",
        f"-Dcassandra.storagedir={home}",
        "-Dcassandra-foreground=yes",
    ]
    run += [f"-Dlogback.configurationFile={logging}", "-cp", java.class_path(jars, "cassandra")]
    daemon.start([*run, "org.apache.cassandra.service.CassandraDaemon"])

"""Kafka, SQS, Postgres and Cassandra as they run in production, on a laptop and without Docker: `make services`.

Run as `python -m localstack start|stop|status [cassandra]`: Cassandra, which takes longer than all others, is started
when it is named. Their data is in `.abacus/services/`; other ports than the usual ones come from
`ABACUS_SERVICES_KAFKA_PORT`, `…_KAFKA_CONTROLLER_PORT`, `…_SQS_PORT`, `…_POSTGRES_PORT`, `…_CASSANDRA_PORT` and
`…_CASSANDRA_STORAGE_PORT`.
"""

import argparse
import asyncio
import logging
import os
import socket
import sys
from collections.abc import Collection, Sequence
from typing import Final

from abacus.core.errors import AbacusError, Refused, Unavailable
from abacus.platform.embedded.lock import DirectoryLock
from localstack.daemon import stop
from localstack.services import HOME, HOST, REGION, SERVICES, Ports, Service, ready

_ENVIRONMENT: Final = HOME / "env"


def start(named: Collection[str]) -> int:
    """Starts the services that do not run yet, the optional ones that are named among them, waits until all can be
    used, and prints the settings. Starting twice does no harm.
    """
    ports = _ports()
    running = [service for service in SERVICES if service.daemon.process() is not None]
    missing = [service for service in _wanted(named) if service not in running]
    known = _ENVIRONMENT.read_text(encoding="utf-8") if _ENVIRONMENT.exists() else ""
    if running and not set(_settings(ports, running)) <= set(known.splitlines()):
        raise Refused("they run on other ports: `make services-stop` first")
    for service in missing:
        _refuse_taken_ports(service, ports)
    settings = "".join(f"{line}\n" for line in _settings(ports, [*running, *missing]))
    _ENVIRONMENT.write_text(settings, encoding="utf-8")
    try:
        for service in missing:
            service.daemon.home.mkdir(exist_ok=True)
            service.start(service.daemon, ports)
        asyncio.run(_all_ready([*running, *missing], ports))
    except BaseException:
        stop(service.daemon for service in missing)
        raise
    sys.stdout.write(f"{settings}# ready; in another terminal: source {_ENVIRONMENT}\n")
    return 0


def stop_all(_: Collection[str]) -> int:
    stop(service.daemon for service in SERVICES)
    return 0


def status(named: Collection[str]) -> int:
    """Prints which services run; returns 1 unless all do that would be started."""
    processes = {service.daemon.name: service.daemon.process() for service in SERVICES}
    for name, process in processes.items():
        sys.stdout.write(f"{name:10} {f'process {process.pid}' if process else 'stopped'}\n")
    return 0 if all(processes[service.daemon.name] for service in _wanted(named)) else 1


def _wanted(named: Collection[str]) -> list[Service]:
    return [service for service in SERVICES if not service.optional or service.daemon.name in named]


def _ports() -> Ports:
    chosen: dict[str, int] = {}
    for name in Ports._fields:
        setting = f"ABACUS_SERVICES_{name.upper()}_PORT"
        if value := os.environ.get(setting):
            if not value.isdecimal():
                raise Refused(f"{setting}: a port is needed, not {value!r}")
            chosen[name] = int(value)
    return Ports(**chosen)


def _refuse_taken_ports(service: Service, ports: Ports) -> None:
    for name in service.ports:
        port: int = getattr(ports, name)
        with socket.socket() as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # else a port that was just freed still seems taken
            try:
                probe.bind((HOST, port))
            except (OSError, OverflowError) as error:
                raise Refused(f"port {port} cannot be had ({error}): set ABACUS_SERVICES_{name.upper()}_PORT") from None


def _settings(ports: Ports, services: Collection[Service]) -> list[str]:
    """Lines for a shell. The optional services have a line each, if they are among these."""
    always = {
        "DATABASE_URL": ports.database_url,
        "SQS_ENDPOINT_URL": ports.sqs_endpoint_url,
        "KAFKA_BOOTSTRAP": f"{HOST}:{ports.kafka}",
    }
    optional = (
        {"CASSANDRA_HOSTS": HOST, "CASSANDRA_PORT": str(ports.cassandra)}
        if any(service.optional for service in services)
        else {}
    )
    lines = [
        " ".join(f"{prefix}{name}={address}" for name, address in addresses.items())
        for addresses in (always, optional)
        for prefix in ("ABACUS_", "ABACUS_TEST_")
        if addresses
    ]
    lines.append(f"AWS_ACCESS_KEY_ID=abacus AWS_SECRET_ACCESS_KEY=abacus AWS_DEFAULT_REGION={REGION}")
    return [f"export {line}" for line in lines]


async def _all_ready(services: Collection[Service], ports: Ports) -> None:
    try:
        async with asyncio.TaskGroup() as waiting:
            for service in services:
                waiting.create_task(ready(service, ports))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


def main(arguments: Sequence[str]) -> int:
    commands = {"start": start, "stop": stop_all, "status": status}
    parser = argparse.ArgumentParser(prog="python -m localstack", description=__doc__)
    parser.add_argument("command", choices=commands)
    parser.add_argument("named", nargs="*", metavar="cassandra", help="an optional service that is wanted too")
    asked = parser.parse_args(arguments)
    command = commands[asked.command]
    if unknown := set(asked.named) - {service.daemon.name for service in SERVICES}:
        parser.error(f"there is no service {min(unknown)}")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # that it cannot connect yet is expected
    lock = DirectoryLock(HOME)
    try:
        if command is not status:
            lock.take()
        return command(asked.named)
    except AbacusError as error:
        sys.stderr.write(f"services: {error}\n")
        return 1 if isinstance(error, Unavailable) else 2
    except KeyboardInterrupt:
        return 130
    finally:
        lock.release()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The services that tests run on, and databases made on them."""

from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import asyncpg


class Services(NamedTuple):
    """Addresses of the services under test."""

    database_url: str
    sqs_endpoint_url: str
    kafka_bootstrap: str


def database_address(services: Services, name: str) -> str:
    return urlunsplit(urlsplit(services.database_url)._replace(path=f"/{name}"))


async def administer(services: Services, statement: str) -> None:
    connection = await asyncpg.connect(services.database_url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def how_to_copy(services: Services) -> str:
    """The end of `create database … template …`. A server that writes nothing through to the disk, as the embedded one,
    is quicker at copying files than at logging pages.
    """
    connection = await asyncpg.connect(services.database_url)
    try:
        return "strategy file_copy" if await connection.fetchval("show fsync") == "off" else ""
    finally:
        await connection.close()

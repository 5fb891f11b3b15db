"""`abacus counters store`: the place of the counters' rows."""

from typing import Annotated

import typer

from abacus.cli.terminal.answer import console
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.core.errors import Refused
from abacus.signals.counters.store.cassandra.schema import make, statements
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.wiring import cassandra_of

app = CommandGroup(help="Where the rows of counters are.", no_args_is_help=True)


@app.callback()
def store() -> None:
    """A group, although it has one command."""


@app.command()
async def init(
    replicas: Annotated[int, typer.Option(min=1, help="How many servers of the datacenter hold each row.")] = 3,
    only_print: Annotated[bool, typer.Option("--print", help="Print the CQL, and run nothing.")] = False,
) -> None:
    """Make the keyspace and the table in Cassandra, if they are missing. In Postgres, `abacus migrate` makes the table.

    ABACUS_CASSANDRA_DATACENTER names the datacenter. A keyspace that is there keeps its replicas.
    """
    config = settings()
    cluster = cassandra_of(config)
    if cluster is None:
        raise Refused("ABACUS_COUNTER_STORE is postgres: `abacus migrate` makes its table")
    datacenter = cluster.address.datacenter
    if datacenter is None:
        raise Refused("ABACUS_CASSANDRA_DATACENTER is not set")
    if not only_print:
        async with Session(cluster.address) as session:
            await make(session, cluster.keyspace, datacenter, replicas)
    for each in statements(cluster.keyspace, datacenter, replicas):
        console.print(f"{each};")

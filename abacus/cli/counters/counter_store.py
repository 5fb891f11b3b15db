"""`abacus counters store` and `cache`: the place of the counters' rows, and the share of closed parts that is kept."""

from typing import Annotated

import typer

from abacus.cli.terminal.answer import Answer, console
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.core.errors import Refused
from abacus.people.types.deed import Deed
from abacus.platform.reading.decide.shares import Setting
from abacus.platform.reading.types import ALL
from abacus.signals.counters.reading.cache_share import CacheShareStore
from abacus.signals.counters.store.cassandra.schema import make, statements
from abacus.signals.counters.store.cassandra.session import Session
from abacus.signals.counters.wiring import cassandra_of

app = CommandGroup(help="Where the rows of counters are.", no_args_is_help=True)


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


async def cache(
    share: Annotated[
        int | None,
        typer.Option(min=0, max=ALL, help="The percentage of counters, by the last two digits of their ids."),
    ] = None,
) -> Answer:
    """Show for how many counters the closed parts of answers are kept, or set it; it is in force within a second."""
    async with actor() as at:
        store = CacheShareStore(at.pool, at.clock)
        if share is None:
            known = await store.share()
        else:
            also = at.does(Deed.RUN_JOBS, "counters", did="cache", share=share)
            known = await store.set(share, by=at.actor.source, also=also)
    percent, set_at, set_by = (0, None, None) if known is None else (known.value, known.set_at, known.set_by)
    return Answer({"percent": percent, "set_at": set_at, "set_by": set_by}, _in_words(known))


def _in_words(share: Setting | None) -> str:
    if share is None:
        return "nothing is kept: every answer is read from the store"
    since = f"since {share.set_at:%Y-%m-%d %H:%M} UTC, by {share.set_by}"
    if not share.value:
        return f"nothing is kept, {since}"
    if share.value == ALL:
        return f"closed parts of all counters are kept, {since}"
    return f"closed parts are kept of counters whose id ends below {share.value:02}, {since}"

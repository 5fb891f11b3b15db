"""`abacus exchanges partner-sim`: a reference partner, to test against and to play with."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from abacus.cli.exchanges.shared_key import Key, checked_key
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.exchanges.partner_sim.partner import ReferencePartner
from abacus.process import stopped_by_signals

_LIMITS = HttpLimits(connections=0, connections_per_address=0)  # it is alone on its machine with its caller


async def partner_sim(
    port: Annotated[int, typer.Option(help="Where it listens, on this machine alone; 0 takes a free port.")],
    key: Key,
    ledger: Annotated[
        Path | None, typer.Option(help="The file of its ledger; without one the ledger ends with the process.")
    ] = None,
    callbacks: Annotated[
        str | None, typer.Option(help="Where it tells of transfers: https://HOUSE/v1/exchange-callbacks/PROGRAMME.")
    ] = None,
    house: Annotated[str | None, typer.Option(help="The house that its members send points to: https://HOUSE.")] = None,
    house_key: Annotated[str, typer.Option(help="The partner's key there.")] = "",
    folder: Annotated[
        Path | None,
        typer.Option(help="Where the house writes files for it: it answers them there, from the same ledger."),
    ] = None,
    client_secret: Annotated[
        str | None, typer.Option(help="Of the client abacus, where members sign in; the key unless it is there.")
    ] = None,
) -> None:
    """Run a reference partner until Ctrl-C. It keeps the contract, and misbehaves as `PUT /_behave` asks it to."""
    if house is not None and not house_key:
        raise Refused("--house needs --house-key, the partner's key there")
    secret, stop = checked_key(key), asyncio.Event()
    listener = bound("127.0.0.1", port, "--port")
    partner = ReferencePartner(
        secret,
        SystemClock(),
        file=ledger,
        callbacks=callbacks,
        house=house,
        house_key=house_key,
        folder=folder,
        client_secret=client_secret,
    )
    try:
        with stopped_by_signals(stop):
            typer.echo(f"the reference partner listens on http://127.0.0.1:{listener.getsockname()[1]}")
            await asyncio.gather(serve(partner.app, listener, stop, _LIMITS), partner.run(stop))
    finally:
        await partner.close()

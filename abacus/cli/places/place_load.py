"""`abacus places load` and `abacus places remove`: the places of a file, and a place that is no more."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import EXIT_REFUSED, Answer, Aside, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.progress import percents
from abacus.core.errors import Refused
from abacus.platform.postgres import Pool
from abacus.pricing.kind import countries_with_cards
from abacus.process import look_for_garbage_seldom
from abacus.signals.places.decide.place_document import Priced, usual_country
from abacus.signals.places.place_desk import Loaded, PlaceDesk
from abacus.signals.places.place_files import opened
from abacus.signals.places.place_spool import BadEntry, Judged, judge, spooling

_SHOWN: Final = 20  # faults, on the terminal and in the document


async def load_places(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Places, in CSV, Parquet or GeoJSON.", show_default=False)
    ],
    country: Annotated[
        str | None, typer.Option(metavar="CC", help="Of places that name none.", show_default=False)
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove every other place of the countries in the file.")
    ] = False,
) -> Answer:
    """Load places, each new or in place of the one with its id.

    All of the file is judged first; with a fault nothing is loaded. A load that was cut off is done again.
    """
    check_country(country)
    look_for_garbage_seldom()
    faults: list[BadEntry] = []
    async with actor() as at:
        priced = await _priced(at.pool, country)
        desk = PlaceDesk(at.pool, at.clock, people_required=at.people_required)
        with opened(file) as entries, spooling() as spool, percents() as progress:
            reading = progress.add_task("reading", total=entries.total)
            judged = judge(
                entries, priced, spool, _telling(faults), lambda: progress.update(reading, completed=entries.done)
            )
            if judged.bad:
                return _bad(file, judged, faults)
            if not judged.total:
                raise Refused(f"{file}: no place")
            loading = progress.add_task("loading", total=judged.total)
            loaded = await desk.load(
                spool.pages(),
                judged.countries,
                at.actor,
                file=file.name,
                replace=replace,
                tick=lambda more: progress.advance(loading, more),
            )
    return Answer(
        {"file": str(file), "places": judged.total, "countries": dict(judged.countries), **loaded._asdict()},
        f"{file}: {_said(judged, loaded)}",
    )


async def remove_place(
    id_: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
) -> Answer:
    """Remove a place that is closed for good. A load of a file that has it brings it back."""
    async with actor() as at:
        desk = PlaceDesk(at.pool, at.clock, people_required=at.people_required)
        version = await desk.remove(id_, at.actor)
    return Answer({"id": id_, "version": version}, f"{id_}: removed")


def _telling(faults: list[BadEntry]) -> Callable[[BadEntry], None]:
    """Keeps the first ones."""

    def tell(fault: BadEntry) -> None:
        if len(faults) < _SHOWN:
            faults.append(fault)

    return tell


async def _priced(pool: Pool, country: str | None) -> Priced:
    async with pool.acquire() as connection, connection.transaction():
        countries = (await countries_with_cards(connection)).names
    if country is not None and country not in countries:
        raise Refused(f"--country: {country} has no rate card")
    return Priced(countries, usual_country(country, countries))


def _bad(file: Path, judged: Judged, faults: list[BadEntry]) -> Answer:
    document: dict[str, Any] = {
        "file": str(file),
        "places": judged.total,
        "bad": judged.bad,
        "faults": [each._asdict() for each in faults],
        "more_faults": judged.faults - len(faults),
    }
    more = f", {judged.faults - len(faults):,} more faults than shown" if judged.faults > len(faults) else ""
    asides = (Aside(str(each), "red") for each in faults)
    sentence = Aside(f"{file}: {judged.bad:,} of {counted(judged.total, 'place')} bad{more}; nothing is loaded")
    return Answer(document, *asides, sentence, exit_code=EXIT_REFUSED)


def _said(judged: Judged, loaded: Loaded) -> str:
    removed = f", {loaded.removed:,} removed" if loaded.removed else ""
    return (
        f"{counted(judged.total, 'place')} of {', '.join(sorted(judged.countries))}: {loaded.new:,} new,"
        f" {loaded.changed:,} changed, {loaded.unchanged:,} as before{removed}; version {loaded.version:,}"
    )

"""`abacus places regions`: areas with a name, loaded from GeoJSON for a whole country at a time."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from abacus.cli.people.approvals import document as approval_document
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.answer import EXIT_REFUSED, Answer, Aside, Columns, Shown, Table, counted
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.progress import percents
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.edition import Difference, Edition, Entered
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.region import RegionName
from abacus.signals.places.decide.region_file import AtFeature, RegionFaults
from abacus.signals.places.region_desk import Compared, Loaded, Read, RegionDesk, Tell

app = CommandGroup(no_args_is_help=True, help="Regions: areas with a name, where offers and rules may hold.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="Regions, in GeoJSON.", show_default=False)]
Country = Annotated[str | None, typer.Option(metavar="CC", help="Of regions that name no country.", show_default=False)]
Within = Annotated[str | None, typer.Option("--country", metavar="CC", help="Of this country.", show_default=False)]

_SHOWN: Final = 20  # faults, on the terminal
_LISTED: Final = 20  # changes of a kind, on the terminal

_EDITIONS: Final[Columns[Edition]] = {
    "edition": lambda each: each.label,
    "regions": lambda each: each.size,
    "loaded": lambda each: each.loaded_at,
    "by": lambda each: each.loaded_by,
    "in force since": lambda each: each.in_force_at,
    "approved by": lambda each: each.approved_by,
}
_REGIONS: Final[Columns[RegionName]] = {
    name: lambda each, name=name: getattr(each, name)  # type: ignore[misc]  # mypy knows no default of a lambda
    for name in RegionName._fields
}


class _Room(NamedTuple):
    desk: RegionDesk
    at: CommandActor


@app.command()
async def lint(file: File, country: Country = None) -> Answer:
    """Check the regions of a file, and tell every fault with its feature."""
    async with _room() as room:
        with _reading("reading") as tell:
            found = await _read(room, file, country, tell)
    if isinstance(found, Answer):
        return found
    counts = {each: len(drawn.entries) for each, drawn in sorted(found.by_country.items())}
    said = ", ".join(f"{counted(count, 'region')} of {each}" for each, count in counts.items())
    document = {"file": str(file), "countries": counts, "mended": [_told(each) for each in found.mended]}
    return Answer(document, *_mended(found), f"{file}: {said}")


@app.command()
async def diff(file: File, country: Country = None) -> Answer:
    """Say what a file would change of the regions in force."""
    async with _room() as room:
        with _reading("reading") as tell:
            found = await _read(room, file, country, tell)
        if isinstance(found, Answer):
            return found
        compared = await room.desk.compare(found)
    rows = [{**_difference(each.difference), "second_person": each.takes_second_person} for each in compared]
    return Answer({"file": str(file), "countries": rows}, *_mended(found), *_compared(compared))


@app.command()
async def load(file: File, country: Country = None) -> Answer:
    """Put the regions of a file in force, in place of all that their country has.

    A load that changes more of them than the country's map allows waits for a second person.
    """
    async with _room() as room:
        with _reading("reading") as tell:
            found = await _read(room, file, country, tell)
        if isinstance(found, Answer):
            return found
        compared = await room.desk.compare(found)
        room.desk.check_loads(compared, room.at.actor)
        loaded = []
        for each in compared:
            with _reading(f"building {each.difference.country}") as tell:
                loaded.append(await room.desk.load(each, room.at.actor, tell))
    document = {"file": str(file), "countries": [_loaded(each) for each in loaded]}
    return Answer(document, *_mended(found), *map(_sentence, loaded))


@app.command("list")
async def list_regions(country: Within = None) -> Answer:
    """List the editions of regions that are kept, and the regions in force."""
    check_country(country)
    async with _room() as room:
        editions, regions = await room.desk.editions(country), await room.desk.in_force(country)
    names = [each.name for each in regions]
    return Answer(
        {"editions": [each._asdict() for each in editions], "regions": [each._asdict() for each in names]},
        Table.of("Editions", editions, _EDITIONS),
        Table.of("Regions", names, _REGIONS),
    )


@app.command()
async def show(id_: Annotated[str, typer.Argument(metavar="ID", show_default=False)]) -> Answer:
    """Show a region in force, with its shape."""
    async with _room() as room:
        edition, region = await room.desk.find(id_)
    longitudes, latitudes = zip(*(corner for part in region.parts for corner in part[0]), strict=True)
    told: dict[str, Any] = {**region.called._asdict(), "edition": edition.label}
    box = [min(longitudes), min(latitudes), max(longitudes), max(latitudes)]
    geometry = {"type": "MultiPolygon", "coordinates": region.parts}
    rows = [
        *told.items(),
        ("west, south, east, north", ", ".join(f"{each:g}" for each in box)),
        ("parts", len(region.parts)),
        ("points", sum(len(ring) for part in region.parts for ring in part)),
    ]
    return Answer({**told, "bbox": box, "geometry": geometry}, Table(region.name, ["field", "value"], rows))


@app.command()
async def at(
    lat: Annotated[float, typer.Argument(metavar="LAT", show_default=False)],
    lon: Annotated[float, typer.Argument(metavar="LON", show_default=False)],
) -> Answer:
    """Say in which regions a point lies, or how far the nearest one is. A negative number stands behind `--`."""
    try:
        asked = point(lat, lon)
    except DocumentFaults as error:
        raise Refused(str(error)) from None
    async with _room() as room:
        found = await room.desk.at(asked)
    document: dict[str, Any] = {"regions": [each._asdict() for each in found.regions]}
    if found.nearest is None:
        return Answer(document, Table.of(f"Regions at {lat:g}, {lon:g}", found.regions, _REGIONS))
    nearest, metres = found.nearest
    document["nearest"] = {**nearest._asdict(), "distance_m": round(metres)}
    return Answer(document, f"{lat:g}, {lon:g} lies in no region; the nearest is {nearest.id}, {metres:,.0f} m away")


@asynccontextmanager
async def _room() -> AsyncIterator[_Room]:
    async with actor() as at:
        approvals = large_moves(at.pool, at).approvals
        yield _Room(RegionDesk(at.pool, at.clock, approvals, people_required=at.people_required), at)


@contextmanager
def _reading(what: str) -> Iterator[Tell]:
    with percents() as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)


async def _read(room: _Room, file: Path, country: str | None, tell: Tell) -> Read | Answer:
    """The regions, or what is answered where there are faults."""
    check_country(country)
    try:
        return await room.desk.read(_written(file), country, tell)
    except RegionFaults as refused:
        faults, count = refused.at_features, len(refused.at_features) + refused.more
        asides = [Aside(str(each), "red") for each in faults[:_SHOWN]]
        more = f", {count - len(asides):,} more than shown" if count > len(asides) else ""
        document = {"file": str(file), "faults": [_told(each) for each in faults], "more_faults": refused.more}
        return Answer(document, *asides, Aside(f"{file}: {counted(count, 'fault')}{more}"), exit_code=EXIT_REFUSED)


def _written(file: Path) -> bytes:
    with usable(file):
        return file.read_bytes()


def _told(each: AtFeature) -> dict[str, object]:
    return each._asdict()


def _mended(file: Read) -> list[Shown]:
    shown: list[Shown] = [Aside(str(each), "yellow") for each in file.mended[:_SHOWN]]
    if (more := len(file.mended) - len(shown)) > 0:
        shown.append(Aside(f"{more:,} more like these", "yellow"))
    return shown


def _difference(made: Difference) -> dict[str, Any]:
    return {
        "country": made.country,
        "before": made.before,
        "added": [each.name.id for each in made.added],
        "changed": {each.after.name.id: each.what for each in made.changed},
        "removed": [each.name.id for each in made.removed],
    }


def _compared(compared: Sequence[Compared]) -> Iterator[str]:
    for _, made, takes_second_person, _ in compared:
        yield f"{made.country}: {_counts(made)}" + ("; takes a second person" if takes_second_person else "")
        yield from _some("+", [_called(each) for each in made.added])
        yield from _some("~", [f"{_called(each.after)}: {', '.join(each.what)}" for each in made.changed])
        yield from _some("-", [_called(each) for each in made.removed])


def _called(entry: Entered) -> str:
    id_, name, *_ = entry.name
    return id_ if id_ == name else f"{id_} ({name})"


def _some(sign: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"{sign} {line}" for line in lines[:_LISTED])
    if len(lines) > _LISTED:
        yield f"{sign} {len(lines) - _LISTED:,} more"


def _counts(made: Difference) -> str:
    if not made.size:
        return f"the {counted(made.before, 'region')} in force are these already"
    parts = [f"{count:,} {what}" for what, count in made.counts.items() if count]
    return f"{', '.join(parts)}; {made.before:,} in force"


def _loaded(loaded: Loaded) -> dict[str, Any]:
    made, number, approval = loaded
    return {
        **_difference(made),
        "edition": number,
        "approval": None if approval is None else approval_document(approval),
    }


def _sentence(loaded: Loaded) -> str:
    made, number, approval = loaded
    if number is None:
        return f"{made.country}: {_counts(made)}"
    if approval is None:
        return f"{made.country}@{number} is in force: {_counts(made)} before"
    another = f"another person approves it: abacus approvals approve {approval.approval_id}"
    return f"{made.country}@{number} waits: {_counts(made)}; {another}"

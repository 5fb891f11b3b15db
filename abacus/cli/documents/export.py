"""`abacus export`: writes every document that is in force as a file."""

from pathlib import Path
from typing import Annotated

import typer

from abacus.cli.documents.house_plan import FAMILIES
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.core.errors import Refused


async def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Made where it is not there.", show_default=False)],
) -> Answer:
    """Write the documents in force to DIR, in a folder a kind; `abacus apply` of them changes nothing.

    A campaign that waits for its approval, or is a draft, is written too. A folder that has files is refused.
    """
    async with actor() as at:
        written = await write_documents(directory, at)
    return Answer({"written": written}, "\n".join(written) or "nothing is published")


async def write_documents(directory: Path, at: CommandActor) -> list[str]:
    """The files that were written. Raises `Refused` for a folder that has files."""
    folders = {family.kind.command: directory / family.kind.command for family in FAMILIES}
    for folder in folders.values():
        if folder.exists() and any(folder.iterdir()):
            raise Refused(f"{folder} has files already: a document that is over would stay among them")
    written: list[str] = []
    for family in FAMILIES:
        async with family.desk(at) as desk:
            records = await desk.standing()
        folder = folders[family.kind.command]
        folder.mkdir(parents=True, exist_ok=True)
        for record in records:
            file = folder / f"{family.kind.file_name(record.document)}.toml"
            file.write_text(family.kind.to_toml(record.document), encoding="utf-8")
            written.append(str(file))
    return written

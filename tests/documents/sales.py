"""A kind with states that Abacus does not have: sales, each of which a second person approves."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from abacus.api.document_routes import DocumentRoutes
from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.documents.stated_family import StatedFamily, add_moves
from abacus.cli.terminal.command_actor import CommandActor, at_desk
from abacus.cli.terminal.shell import CommandGroup
from abacus.core import fields
from abacus.core.clock import Clock
from abacus.core.fields import DocumentFaults, Fault, Fields
from abacus.documents.decide.states import Act
from abacus.documents.decide.version_words import Labels
from abacus.documents.stated import StatedKind, stated, stated_table
from abacus.documents.stated_desk import StatedDesk, version_approval
from abacus.documents.stated_store import StatedStore
from abacus.documents.types import Record, Version
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool

# What the migration of the kind does.
TABLES: Final = """
create table sale (
    like campaign including all
);
grant select, insert, update on sale to abacus_app;
"""
_NAME: Final = "[a-z]{1,20}"
_NOW: Final = datetime.now(UTC).replace(microsecond=0)
SPRING: Final = {
    "name": "spring",
    "percent": 10,
    "starts_at": (_NOW - timedelta(days=1)).isoformat(),
    "ends_at": (_NOW + timedelta(days=1)).isoformat(),
}


@dataclass(frozen=True, slots=True)
class Sale:
    """So much off, for a time."""

    name: str
    percent: int
    starts_at: datetime
    ends_at: datetime
    version: int = 0

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


def parse_sale(document: Mapping[str, object]) -> Sale:
    """Raises `DocumentFaults` with every fault."""
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    name = top.read("name", fields.matching(re.compile(_NAME), "is not a name; write small letters"), "")
    percent = top.read("percent", fields.whole(1, 100), 1)
    starts_at, ends_at = (top.read(each, fields.moment, _NOW) for each in ("starts_at", "ends_at"))
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return Sale(name, percent, starts_at, ends_at)


def to_document(sale: Sale) -> dict[str, Any]:
    times = {"starts_at": sale.starts_at.isoformat(), "ends_at": sale.ends_at.isoformat()}
    return {"name": sale.name, "percent": sale.percent, **times}


def described(sale: Sale) -> Iterator[tuple[str, str]]:
    for path, value in to_document(sale).items():
        yield path, str(value)


async def _read(document: Mapping[str, object], _: None) -> Sale:
    return parse_sale(document)


def _restore(document: Mapping[str, Any], version: Version) -> Sale:
    return replace(parse_sale(document), version=version.number)


SALES: Final[StatedKind[Sale, None]] = StatedKind(
    word="sale",
    plural="sales",
    noun="sale",
    command="sales",
    subject="sale",
    deed=Deed.EDIT_CAMPAIGNS,
    table=stated_table("sale", "name"),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda sale: sale.name,
    name=lambda sale: sale.name,
    split_label=Labels("sale", _NAME, "spring").split,
    country=lambda _: "SG",
    approval=ApprovalKind.CAMPAIGN,
)


async def alone(_: Connection | None = None) -> None:
    """A sale is judged by nothing else."""


def sale_approvals(pool: Pool, clock: Clock) -> Approvals:
    return Approvals(pool, clock, {ApprovalKind.CAMPAIGN: version_approval(StatedStore(pool, SALES), clock, alone)})


class SaleDesk(StatedDesk[Sale, None]):
    """The one door to sales."""


def sale_desk(pool: Pool, clock: Clock) -> SaleDesk:
    return SaleDesk(pool, clock, StatedStore(pool, SALES), sale_approvals(pool, clock), alone)


@asynccontextmanager
async def _desk(at: CommandActor) -> AsyncIterator[SaleDesk]:
    yield sale_desk(at.pool, at.clock)


ROUTES: Final = DocumentRoutes(SALES, SaleDesk, manual="their manual", example=SPRING, wrong_state="campaign-state")


FAMILY: Final = StatedFamily(
    kind=SALES,
    desk=_desk,
    offline=lambda: None,
    files="Sales, in TOML or JSON.",
    drafts="sales",
    one="a sale",
    nothing_new="the sales are there already",
    sentence=lambda sale: f"{sale.name} of {sale.percent} percent",
)


def _row(record: Record[Sale]) -> dict[str, Any]:
    return {**to_document(record.document), "status": stated(record).status}


app = CommandGroup()
add_commands(app, FAMILY, Rows(title="Sales", columns=("name", "percent", "status"), row=_row))
add_moves(app, FAMILY, {Act.WITHDRAW: "Take a sale back.", Act.END: "End a sale."})


@app.command()
async def approve(approval: UUID, digest: str = "") -> None:
    """Approve a sale as the second person."""
    async with at_desk(FAMILY.desk) as (_, at):
        await sale_approvals(at.pool, at.clock).approve(approval, at.actor, digest)

"""A reservation or a redemption of an offer, found by its id for a command, and how it is told."""

from typing import Annotated, Any, Final
from uuid import UUID

import typer

from abacus.api.offers.taken import redemption_told, reservation_told
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import CommandActor
from abacus.core.errors import absent
from abacus.engage.offers.decide.paid import micros_text
from abacus.engage.offers.decide.reservation import Redemption, Reservation
from abacus.engage.offers.taken_reader import TakenOffer, TakenReader
from abacus.people.types.deed import Deed

_ID: Final = "Its id; `abacus members show --all` prints it."
ReservationId = Annotated[
    UUID,
    typer.Argument(metavar="RESERVATION", help=_ID, show_default=False),
]
RedemptionId = Annotated[
    UUID,
    typer.Argument(metavar="REDEMPTION", help=_ID, show_default=False),
]
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


async def found(at: CommandActor, thing: str, id_: UUID) -> TakenOffer:
    """Of any caller. Raises `Absent`, and `Refused` where the actor may not change it."""
    taken = await TakenReader(at.pool).one(id_)
    if taken is None or id_ != (taken.redemption_id if thing == "redemption" else taken.reservation_id):
        raise absent(thing, id_)
    at.check(Deed.MOVE_POINTS, taken.country)
    return taken


def logged(taken: TakenOffer, did: str, **more: str) -> dict[str, Any]:
    """What the log has of a deed, beside who does it."""
    return {
        "deed": Deed.MOVE_POINTS,
        "subject": f"member:{taken.member_id}",
        "country": taken.country,
        "did": did,
        "of": taken.offer,
        "redemption": (taken.redemption_id or taken.reservation_id).hex,
        **more,
    }


def reserved(row: Reservation, *, replayed: bool) -> Answer:
    return Answer(reservation_told(row) | {"replayed": replayed}, reserved_line(row, replayed=replayed))


def reserved_line(row: Reservation, *, replayed: bool) -> str:
    """With its id, by which it is redeemed or released."""
    until = f" until {row.until.isoformat()}" if row.status == "held" else ""
    said = f"reservation {row.reservation_id}: {row.offer}@{row.version} for {row.member_id}, {row.status}{until}"
    return f"{said}: {_gain(row)}{_before(replayed=replayed)}"


def redeemed(row: Redemption, *, replayed: bool = False) -> Answer:
    back = micros_text(row.saves_back, row.currency)
    rolled_back = f"; rolled back: {back} {row.currency} and {row.points_back} points" if _is_back(row) else ""
    said = f"redemption {row.redemption_id}: {row.offer}@{row.version} for {row.member_id}: {_gain(row)}"
    return Answer(redemption_told(row) | {"replayed": replayed}, f"{said}{rolled_back}{_before(replayed=replayed)}")


def _is_back(row: Redemption) -> bool:
    return bool(row.saves_back or row.points_back)


def _gain(row: Reservation | Redemption) -> str:
    return f"{micros_text(row.saves, row.currency)} {row.currency} off, {row.points} points"


def _before(*, replayed: bool) -> str:
    return " (done before)" if replayed else ""

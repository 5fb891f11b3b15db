"""Which other ledgers a run posts to: the plain way always, and each other one where its address or files are named."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.report import Figure
from benchmarks.rivals.blnk import Blnk
from benchmarks.rivals.formance import Formance
from benchmarks.rivals.pgledger import PgLedger
from benchmarks.rivals.plain_orm import PlainOrm
from benchmarks.rivals.port import Rival
from benchmarks.rivals.tigerbeetle import TigerBeetle

PART: Final = "rivals"
NOT_NAMED: Final = "not measured"


class _Option(NamedTuple):
    """An option of the command line that names a ledger."""

    flag: str
    ledger: str
    metavar: str
    help: str


_OPTIONS: Final = (
    _Option("pgledger", "pgledger", "PATH", "a clone of github.com/pgr0ss/pgledger, or a file with all of its SQL"),
    _Option("formance", "Formance Ledger", "URL", "of a Formance Ledger that takes bulks of 200"),
    _Option("blnk", "Blnk", "URL", "of a Blnk server"),
    _Option("tigerbeetle", "TigerBeetle", "ADDRESSES", "of a TigerBeetle cluster 0; needs the package tigerbeetle"),
)
_DATABASES: Final = ("formance", "blnk")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rivals", dest="only", action="append_const", const=PART, help=f"the same as --only {PART}")
    for option in _OPTIONS:
        parser.add_argument(f"--{option.flag}", metavar=option.metavar, help=option.help)
    for flag in _DATABASES:
        parser.add_argument(f"--{flag}-database", metavar="URL", help=f"the database of {flag}, for its size")


def named(chosen: argparse.Namespace, server: str) -> list[Rival]:
    """The ledgers beside ours; those in Postgres go to this server."""
    rivals: list[Rival] = []
    if chosen.pgledger:
        rivals.append(PgLedger(server, Path(chosen.pgledger)))
    rivals.append(PlainOrm(server))
    if chosen.formance:
        rivals.append(Formance(chosen.formance, chosen.formance_database))
    if chosen.blnk:
        rivals.append(Blnk(chosen.blnk, chosen.blnk_database))
    if chosen.tigerbeetle:
        rivals.append(TigerBeetle(chosen.tigerbeetle))
    return rivals


def not_named(chosen: argparse.Namespace) -> Sequence[Figure]:
    """A row for each ledger that was not named, which says how to name it."""
    return [
        Figure(option.ledger, NOT_NAMED, f"--{option.flag} {option.metavar}: {option.help}")
        for option in _OPTIONS
        if not getattr(chosen, option.flag)
    ]


def asked(chosen: argparse.Namespace) -> str:
    """The arguments that name the same ledgers, without where these were."""
    flags = [f"--{option.flag} {option.metavar}" for option in _OPTIONS if getattr(chosen, option.flag)]
    return " ".join(["--rivals", *flags])

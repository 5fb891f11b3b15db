"""`make bench`: every measurement, as one table; or beside those of an older revision, with `--against`."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

import uvloop

from abacus.core.errors import AbacusError
from benchmarks import (
    adversity,
    against_plain,
    against_revision,
    api,
    award_queue,
    backtests,
    budgets,
    calculation,
    campaign_counters,
    campaign_deciding,
    campaign_growth,
    campaign_members,
    campaign_slices,
    campaigns,
    campaigns_backtest,
    campaigns_due,
    console,
    counter_series,
    counter_slices,
    counters_store,
    counters_writer,
    counts,
    cut_house,
    cut_ledgers,
    envelopes,
    events_posted,
    exchanges,
    expiry,
    footprint,
    growth,
    hot_accounts,
    hot_api,
    http_limits,
    importing,
    item_cost,
    journeys,
    nearby,
    nearest_places,
    notify,
    offers,
    partner_slices,
    pipeline,
    places_day,
    positions,
    posting,
    profile,
    reconcile,
    regions,
    relays,
    reports,
    rewards,
    scaling,
    segments,
    server_settings,
    shared_categories,
    singly,
    slices,
    spending,
    throughput,
    tiers,
    verify,
    vouching,
)
from benchmarks.pages import FOLDER, run_of, write_pages, write_run
from benchmarks.report import Figure, judged_anywhere, machine, markdown
from benchmarks.rivals import chosen as rivals_chosen
from benchmarks.rivals import measured as rivals

Parts: TypeAlias = Mapping[str, Callable[[Path, argparse.Namespace], Sequence[Figure]]]

PARTS: Final[Parts] = {
    "calculation": lambda _, __: list(calculation.measure()),
    "envelopes": lambda _, __: list(envelopes.measure()),
    "award-queue": lambda _, __: uvloop.run(award_queue.measure()),
    "vouching": lambda _, __: list(vouching.measure()),
    "posting": lambda directory, chosen: uvloop.run(posting.measure(directory, chosen.accounts)),
    "hot": lambda directory, _: uvloop.run(hot_accounts.measure(directory)),
    "footprint": lambda directory, _: uvloop.run(footprint.measure(directory)),
    "singly": lambda _, chosen: uvloop.run(singly.measure(chosen.accounts)),
    "demo": lambda _, chosen: pipeline.measure_demo(chosen.transactions),
    "memory": lambda directory, chosen: uvloop.run(pipeline.measure_memory(directory, chosen.transactions)),
    "api": lambda directory, _: uvloop.run(api.measure(directory)),
    "hot-api": lambda directory, chosen: uvloop.run(hot_api.measure(directory, short=chosen.short)),
    "console": lambda directory, chosen: uvloop.run(console.measure(directory, chosen.accounts)),
    "counts": lambda directory, _: uvloop.run(counts.measure(directory)),
    against_revision.COST: lambda directory, chosen: uvloop.run(item_cost.measure(directory, short=chosen.short)),
    "http": lambda _, __: uvloop.run(http_limits.measure()),
    "cut": lambda directory, chosen: uvloop.run(cut_ledgers.measure(directory, chosen.accounts // 10, chosen.rounds)),
    "cut-house": lambda _, chosen: uvloop.run(cut_house.measure(chosen.accounts, chosen.rounds)),
    "relays": lambda _, chosen: uvloop.run(relays.measure(chosen.accounts // 10)),
    "slices": lambda directory, chosen: uvloop.run(slices.measure(directory, chosen.accounts // 10)),
    "spending": lambda directory, _: uvloop.run(spending.measure(directory)),
    "events": lambda directory, _: uvloop.run(events_posted.measure(directory)),
    "hour": lambda directory, _: uvloop.run(api.measure_hour(directory)),
    "expiry": lambda directory, chosen: uvloop.run(expiry.measure(directory, chosen.accounts)),
    "import": lambda directory, _: uvloop.run(importing.measure(directory)),
    "tiers": lambda directory, chosen: uvloop.run(tiers.measure(directory, chosen.accounts)),
    "notify": lambda directory, _: uvloop.run(notify.measure(directory)),
    "verify": lambda directory, chosen: uvloop.run(verify.measure(directory, chosen.accounts // 10)),
    "counter-store": lambda directory, _: uvloop.run(counters_store.measure(directory)),
    "counter-writer": lambda directory, _: uvloop.run(counters_writer.measure(directory)),
    "counter-series": lambda directory, _: uvloop.run(counter_series.measure(directory)),
    "counter-slices": lambda directory, _: uvloop.run(counter_slices.measure(directory)),
    "campaign-deciding": lambda _, __: list(campaign_deciding.measure()),
    "segments": lambda directory, _: uvloop.run(segments.measure(directory)),
    "campaigns": lambda _, chosen: uvloop.run(campaigns.measure(chosen.accounts, chosen.seconds, chosen.campaigns)),
    "campaigns-growth": lambda _, chosen: uvloop.run(campaign_growth.measure(chosen.campaigns)),
    "campaigns-counters": lambda directory, _: uvloop.run(campaign_counters.measure(directory)),
    "campaigns-members": lambda directory, _: uvloop.run(campaign_members.measure(directory)),
    "campaigns-slices": lambda directory, _: uvloop.run(campaign_slices.measure(directory)),
    "partners-slices": lambda directory, _: uvloop.run(partner_slices.measure(directory)),
    "campaigns-due": lambda _, chosen: uvloop.run(campaigns_due.measure(chosen.actions)),
    "campaigns-backtest": lambda directory, chosen: uvloop.run(campaigns_backtest.measure(directory, chosen.events)),
    "offers": lambda directory, chosen: uvloop.run(offers.measure(directory, short=chosen.short)),
    "nearby": lambda directory, chosen: uvloop.run(nearby.measure(directory, short=chosen.short)),
    "rewards": lambda directory, chosen: uvloop.run(rewards.measure(directory, short=chosen.short)),
    "exchanges": lambda directory, chosen: uvloop.run(exchanges.measure(directory, chosen.exchanges)),
    "backtests": lambda directory, _: uvloop.run(backtests.measure(directory)),
    "journeys": lambda directory, chosen: uvloop.run(journeys.measure(directory, chosen.members)),
    "budgets": lambda directory, chosen: uvloop.run(budgets.measure(directory, short=chosen.short)),
    "nearby-shared": lambda directory, chosen: uvloop.run(shared_categories.measure(directory, short=chosen.short)),
    "places-day": lambda directory, chosen: uvloop.run(places_day.measure(directory, short=chosen.short)),
    "places-near": lambda directory, _: uvloop.run(nearest_places.measure(directory)),
    "positions": lambda directory, chosen: uvloop.run(positions.measure(directory, short=chosen.short)),
    "places": lambda directory, chosen: uvloop.run(regions.measure(directory, short=chosen.short)),
    "reconcile": lambda directory, _: uvloop.run(reconcile.measure(directory)),
    "throughput": lambda _, chosen: uvloop.run(
        throughput.measure(
            chosen.accounts,
            chosen.seconds,
            {"calculator": chosen.calculators, "awarder": chosen.awarders},
            chosen.slices,
        )
    ),
    "plain": lambda _, chosen: uvloop.run(
        against_plain.measure(chosen.accounts, 1, chosen.seconds)
        if chosen.short
        else against_plain.measure(chosen.accounts, against_plain.ROUNDS)
    ),
    "scaling": lambda _, chosen: uvloop.run(scaling.measure(chosen.accounts)),
    "adversity": lambda _, chosen: uvloop.run(adversity.measure(chosen.accounts)),
    "profile": lambda directory, chosen: uvloop.run(profile.measure(directory, chosen.accounts)),
    "server-settings": lambda directory, _: uvloop.run(server_settings.measure(directory)),
    "growth": lambda _, chosen: uvloop.run(growth.measure(chosen.grown_accounts, chosen.grown_transfers)),
    "reports": lambda directory, _: uvloop.run(reports.measure(directory)),
    rivals_chosen.PART: lambda directory, chosen: uvloop.run(rivals.measure(directory, chosen)),
}
# Each takes many minutes, but for the profile, which needs py-spy.
_ONLY_ASKED_FOR: Final = {
    *(
        "backtests",
        "console",
        "cut",
        "cut-house",
        "growth",
        "hour",
        "journeys",
        "profile",
        "relays",
        "reports",
        rivals_chosen.PART,
        "server-settings",
        "slices",
    ),
}
# Minutes instead of half an hour. Such small sizes show that everything works, not how fast it is.
IN_SHORT: Final = ("calculation", against_revision.COST, "throughput", "plain")
_SHORT: Final = {"accounts": 100_000, "transactions": 2_000, "seconds": 4, "members": 20_000, "exchanges": 1_000}
# What is measured against a revision when nothing is named: by processor time, which a busy machine changes least.
_AGAINST: Final = (against_revision.COST,)


def main(arguments: Sequence[str] | None = None, parts: Parts = PARTS) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # queues and topics are removed, as on Ctrl-C
    chosen = _chosen(arguments, parts)
    if chosen.against is None:
        return _measure(chosen, parts)
    try:
        return against_revision.measure(chosen.against, chosen.only, chosen.rounds, chosen.sizes, short=chosen.short)
    except AbacusError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _measure(chosen: argparse.Namespace, parts: Parts) -> int:
    figures: list[Figure] = []
    unmeasured = False
    try:
        for name in chosen.only:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            try:
                with tempfile.TemporaryDirectory(prefix="abacus-bench-") as directory:
                    measured = parts[name](Path(directory), chosen)
                figures += measured
                if chosen.write is not None:
                    write_run(chosen.write, name, run_of(_asked(name, chosen), _today(), machine(), measured))
            except AbacusError as error:  # the other parts may not need the missing service
                print(f"bench: {name}: {error}", file=sys.stderr)
                unmeasured = True
    except KeyboardInterrupt:
        return 130
    finally:  # print the figures measured before a failure: they took their time
        if chosen.short:
            figures = judged_anywhere(figures)
        print(markdown(figures))
        print(f"\nOn: {machine()}.")
    if chosen.write is not None:
        for page in write_pages(chosen.write):
            print(f"wrote {page}", file=sys.stderr)
    if unmeasured:
        return 2
    return 0 if all(figure.reached is not False for figure in figures) else 1


def _asked(part: str, chosen: argparse.Namespace) -> str:
    return rivals_chosen.asked(chosen) if part == rivals_chosen.PART else f"--only {part}"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _chosen(arguments: Sequence[str] | None, parts: Parts) -> argparse.Namespace:
    """The choices; `sizes` has the arguments that go on to the benchmarks of both revisions."""
    what = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    what.add_argument("--only", choices=list(parts), action="append")
    rivals_chosen.add_options(what)
    what.add_argument(
        "--against",
        metavar="REVISION",
        help=f"measure it and this tree in turns; {', '.join(_AGAINST)} if no part is named",
    )
    what.add_argument(
        "--rounds",
        type=_positive,
        default=against_revision.ROUNDS,
        help="of each, against a revision or of cut ledgers",
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, allow_abbrev=False, parents=[what]
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"{', '.join(IN_SHORT)} at small sizes; rates are shown, and only what holds on any machine is judged",
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=FOLDER,
        metavar="FOLDER",
        help="keep the figures, and write them into the pages of docs/develop/benchmarks",
    )
    parser.add_argument("--accounts", type=int, default=1_000_000, help="accounts present")
    parser.add_argument("--transactions", type=int, default=20_000, help="transactions through the embedded stack")
    parser.add_argument("--seconds", type=float, default=180, help="how long the throughput is sustained")
    parser.add_argument("--campaigns", type=int, default=10_000, help="campaigns in force")
    parser.add_argument("--actions", type=int, default=1_000_000, help="delayed awards of campaigns, due at once")
    parser.add_argument("--members", type=_positive, default=journeys.MEMBERS, help="members of a journey, due at once")
    parser.add_argument("--events", type=int, default=1_000_000, help="events for the backtest of a campaign")
    parser.add_argument(
        "--exchanges", type=_positive, default=exchanges.EXCHANGES, help="with a partner, by each carrier"
    )
    parser.add_argument("--calculators", type=int, default=1, help="processes for the throughput")
    parser.add_argument("--awarders", type=int, default=1, help="processes for the throughput")
    parser.add_argument("--slices", type=int, default=1, help="of the ledger for the throughput")
    parser.add_argument("--grown-accounts", type=_counts, default="1000000,10000000", help="sizes for the growth")
    parser.add_argument("--grown-transfers", type=_counts, default="1000000,10000000", help="sizes for the growth")
    chosen = parser.parse_args(arguments)
    if chosen.short:
        parser.set_defaults(**_SHORT)
        chosen = parser.parse_args(arguments)
    if chosen.write and (chosen.short or chosen.against):
        parser.error("--write keeps the figures of whole runs of this tree")
    _, chosen.sizes = what.parse_known_args(arguments)
    if not chosen.only and chosen.against:
        chosen.only = _AGAINST
    elif not chosen.only:
        chosen.only = IN_SHORT if chosen.short else [name for name in parts if name not in _ONLY_ASKED_FOR]
    return chosen


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def _counts(text: str) -> list[int]:
    return [int(count) for count in text.split(",") if count]


if __name__ == "__main__":
    raise SystemExit(main())

"""The rows that say what each ledger did, beside our own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from benchmarks.posting_rounds import AWARDERS
from benchmarks.report import Figure, rate
from benchmarks.rivals.killed import Aftermath
from benchmarks.rivals.pgledger import PgLedger
from benchmarks.rivals.port import Rival
from benchmarks.rivals.rounds import Pace

# How many times as many we want to post, by the issuers among which grants are drawn.
ISSUERS: Final = {1: ("one issuer", 30), 100: ("a hundred issuers", 7)}


class Posted(NamedTuple):
    """What one ledger did with grants from so many issuers; its bytes are those of a grant."""

    rival: Rival
    issuers: int
    pace: Pace
    bytes: float | None


def beside(posted: Sequence[tuple[Rival, Posted | str]]) -> Iterator[Figure]:
    """Raises `Unavailable` if our own ledger gave up."""
    _, ours = posted[0]
    if isinstance(ours, str):
        raise Unavailable("Abacus", ours)
    for rival, each in posted:
        if isinstance(each, str):
            yield gave_up(f"{rival.name}, {ISSUERS[ours.issuers][0]}", each)
        else:
            yield from _figures(each, ours)


def _figures(each: Posted, ours: Posted) -> Iterator[Figure]:
    rival, is_ours = each.rival, each is ours
    named_issuers, wanted = ISSUERS[each.issuers]
    times = ours.pace.per_s / each.pace.per_s
    judged = isinstance(rival, PgLedger)
    yield Figure(
        f"{rival.name}, {named_issuers}, {_way(rival)}",
        rate(each.pace.per_s, "awards"),
        "" if is_ours else f"Abacus posts {times:.1f} times as many",
        f">= {wanted} times" if judged else "",
        times >= wanted if judged else None,
    )
    p99_s, ours_s = each.pace.p99_s, ours.pace.p99_s
    a_call = "an award" if rival.a_call == 1 else f"a call of {rival.a_call}"
    yield Figure(
        f"… p99 of {a_call}",
        f"{p99_s * 1000:.1f} ms",
        "" if is_ours or rival.a_call != ours.rival.a_call else f"{p99_s / ours_s:.1f} times Abacus'",
    )
    if each.bytes is None:
        yield Figure("… bytes of an award on disk", "not told")
    else:
        beside = "" if is_ours or not ours.bytes else f"{each.bytes / ours.bytes:.1f} times Abacus'"
        yield Figure("… bytes of an award on disk", f"{each.bytes:,.0f}", beside)


def _way(rival: Rival) -> str:
    accounts = "one account" if rival.accounts == 1 else "two accounts"
    return f"{rival.a_call} a call, {AWARDERS} x {rival.connections} connections; a transfer changes {accounts}"


def after_a_kill(rival: Rival, left: Aftermath, *, judged: bool) -> Iterable[Figure]:
    """Ours has to keep all and double none on any machine; of others it is told."""

    def kept(name: str, value: str, *, good: bool, wanted: str = "0", beside: str = "") -> Figure:
        return Figure(name, value, beside, wanted, good, anywhere=True) if judged else Figure(name, value, beside)

    sums, twice = left.sums, left.twice + left.twice_if_all
    issuers = "" if sums.issuers is None else f", issuers {sums.issuers:,}"
    yield kept(
        f"{rival.name}, its poster killed by SIGKILL: acknowledged and not there",
        f"{left.lost:,} of {left.acknowledged:,}",
        good=not left.lost,
        beside=f"{left.kept:,} of {left.under_way:,} under way are there",
    )
    yield kept(
        "… there twice, once what was not acknowledged was sent again; once all was",
        f"{left.twice:,}; {left.twice_if_all:,}",
        good=not twice,
    )
    yield kept(
        "… sums that have to agree",
        "agree" if sums.agree else "do not agree",
        good=sums.agree,
        wanted="agree",
        beside=f"members {sums.members:,}, transfers {sums.transfers:,}{issuers}",
    )


def gave_up(what: str, refusal: str) -> Figure:
    return Figure(what, "gave up", refusal)

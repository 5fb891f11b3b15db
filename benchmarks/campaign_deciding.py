"""From the bytes of an event to the campaigns that it concerns, on one core: by the index, and by a look at each."""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from abacus.process import look_for_garbage_seldom
from abacus.signals.events.types import Event
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.document import rule_document
from abacus.signals.rules.decide.index import RuleIndex
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Rule
from benchmarks.campaign_examples import NOW, cities_of, reader, rides, rule, rules
from benchmarks.report import Figure, rate

MANY: Final = 10_000
MATCHES: Final = (6, 37, 170)
FEWER: Final = (100, 1_000)  # campaigns, for the growth
EVENTS: Final = 5_000
ROUNDS: Final = 5
ONE_BY_ONE: Final = 30  # events, where each campaign is looked at
REPLACED: Final = 300
WANTED: Final = 50_000
WANTED_MS: Final = 5

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda value, rhs: bool(value == rhs),
    "gt": lambda value, rhs: bool(value > rhs),
    "gte": lambda value, rhs: bool(value >= rhs),
    "in": lambda value, rhs: value in rhs,
    "between": lambda value, rhs: bool(rhs[0] <= value <= rhs[1]),
    "contains": lambda value, rhs: rhs in value,
}


def measure() -> Iterator[Figure]:
    look_for_garbage_seldom()  # as a worker does
    reading, finding = 0.0, {}
    for matches in MATCHES:
        read, found, mean = _seconds(MANY, matches)
        reading, finding[matches] = reading or read, found
        reached = 1 / (read + found) >= WANTED if matches == MATCHES[0] else None
        yield Figure(
            f"campaigns, message to those it concerns, {mean:.0f} of {MANY:,}, one core",
            rate(1 / (read + found), "events"),
            f"{read * 1e6:.1f} µs to read it, {found * 1e6:.1f} µs to find them",
            "" if reached is None else f">= {WANTED:,}/s",
            reached,
        )
    by_document, by_function = _one_by_one()
    found = finding[MATCHES[0]]
    for name, seconds in (("its rule as JSON", by_document), ("its compiled rule", by_function)):
        yield Figure(
            f"… by a look at each, {name}",
            rate(1 / (reading + seconds), "events"),
            f"{seconds / found:,.0f} times as long to find them",
        )
    for number in FEWER:
        _, fewer, mean = _seconds(number, MATCHES[0])
        yield Figure(
            f"… {mean:.0f} of {number:,}, to find them",
            f"{fewer * 1e6:.1f} µs",
            f"{fewer / found:.2f} of that among {MANY:,}",
        )
    yield from _changes()


def _seconds(number: int, matches: int) -> tuple[float, float, float]:
    """To read an event, and to find what it concerns; and how many that are, on average."""
    index, events = _index(rules(number, matches)), rides(EVENTS, number, matches)
    read = reader().read
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        taken = [event for message in events if (event := read(message, NOW)) is not None]
        between = time.process_time()
        found = [len(index.may_hold(event)) for event in taken]
        rounds.append((between - started, time.process_time() - between, statistics.mean(found)))
    reading, finding, (mean, *_) = zip(*rounds, strict=True)
    return min(reading) / EVENTS, min(finding) / EVENTS, mean


def _one_by_one() -> tuple[float, float]:
    """Seconds an event, with each rule interpreted and with each rule run. Both find what the index finds."""
    many = list(rules(MANY, MATCHES[0]))
    documents = list(enumerate(map(_typed, many)))
    functions = list(enumerate(map(compile_rule, many)))
    index, read = _index(many), reader().read
    messages = rides(ONE_BY_ONE, MANY, MATCHES[0])
    events = [event for message in messages if (event := read(message, NOW)) is not None]
    expected = [sorted(index.may_hold(event)) for event in events]
    return (
        _timed(events, expected, lambda event: [number for number, document in documents if _holds(document, event)]),
        _timed(events, expected, lambda event: [number for number, function in functions if function(event)]),
    )


def _timed(events: Sequence[Event], expected: list[list[int]], find: Callable[[Event], list[int]]) -> float:
    started = time.process_time()
    found = [find(event) for event in events]
    seconds = time.process_time() - started
    if found != expected:
        raise AssertionError("the index and a look at each find different campaigns")
    return seconds / len(events)


def _typed(rule: Rule) -> dict[str, Any]:
    """The document of the rule, its constants read already."""
    match rule:
        case Condition(rhs=rhs):
            return {**rule_document(rule), "rhs": rhs}
        case AllOf(conditions) | AnyOf(conditions):
            return {**rule_document(rule), "conditions": [_typed(each) for each in conditions]}
        case Not(condition):
            return {**rule_document(rule), "conditions": [_typed(condition)]}


def _holds(document: Mapping[str, Any], event: Event) -> bool:
    match document["operator"]:
        case "and":
            return all(_holds(each, event) for each in document["conditions"])
        case "or":
            return any(_holds(each, event) for each in document["conditions"])
        case "not":
            return not _holds(document["conditions"][0], event)
    place, _, name = document["lhs"].partition(".")
    value = event.variables.get(name) if place == "var" else getattr(event, name)
    return value is not None and _COMPARE[document["operator"]](value, document["rhs"])


def _index(some: Iterable[Rule]) -> RuleIndex:
    index = RuleIndex()
    for number, each in enumerate(some):
        index.put(number, each)
    return index


def _changes() -> Iterator[Figure]:
    many = list(rules(MANY, MATCHES[0]))
    started = time.process_time()
    index = _index(many)
    made = time.process_time() - started
    yield Figure(f"index of {MANY:,} campaigns, made anew", f"{made:.1f} s")
    seconds = sorted(_replacing(index))
    median, most = statistics.median(seconds) * 1000, seconds[-1] * 1000
    yield Figure(
        "… one campaign replaced, and the next event",
        f"median {median:.2f} ms, at most {most:.2f} ms",
        f"{made * 1000 / median:,.0f} times faster",
        f"<= {WANTED_MS} ms",
        most <= WANTED_MS,
    )


def _replacing(index: RuleIndex) -> Iterator[float]:
    rng, cities = random.Random(7), cities_of(MANY, MATCHES[0])
    read = reader().read
    events = [event for message in rides(REPLACED, MANY, MATCHES[0]) if (event := read(message, NOW)) is not None]
    for event in events:
        another, number = rule(rng, cities), rng.randrange(MANY)
        started = time.process_time()
        index.put(number, another)
        index.may_hold(event)
        yield time.process_time() - started

"""Misfortune by seed: what can go wrong, how often it does, and which dependencies are down when."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

DEPENDENCIES: Final = ("cards", "tiers", "quarantine", "ledger", "award queue", "retry queue", "kafka")

# Every call of every worker. Each is a place to crash at twice: before its effect, and before its answer. The relay
# works in the runs on Postgres alone, which aim at its calls.
_DECIDING: Final = ("cards.read", "tiers.read", "award queue.send", "retry queue.send", "quarantine.add")
CALLS: Final[Mapping[str, Sequence[str]]] = {
    "calculator": ("kafka.join", "kafka.read", "kafka.ask", *_DECIDING, "kafka.commit"),
    "retrier": ("retry queue.receive", *_DECIDING, "retry queue.keep", "retry queue.delete"),
    "awarder": (
        "award queue.receive",
        "cards.read",
        "ledger.post",
        "quarantine.add",
        "award queue.keep",
        "award queue.delete",
    ),
}
RELAY_CALLS: Final = ("relay.connect", "kafka.connect", "relay.read", "kafka.publish", "relay.move")


def _places(worker: str, calls: Sequence[str]) -> list[str]:
    return [f"{worker} {when} {call}" for call in calls for when in ("before", "after")]


PLACES: Final = [place for worker, calls in CALLS.items() for place in _places(worker, calls)]
RELAY_PLACES: Final = _places("relay", RELAY_CALLS)

LASTING_S: Final = 200.0
_AIMED_CRASHES: Final = 3

# A worker keeps messages only while it works on them for long: the dependency that has to be away for that.
_KEEPS_WITHOUT: Final = {"retrier": "award queue", "awarder": "ledger"}


@dataclass(frozen=True)
class Weather:
    """How likely each misfortune is whenever it could strike: the highest rates, of which a seed takes a part."""

    crash: float = 0.025  # the process ends, between any two steps
    slow: float = 0.03  # a call takes long, up to minutes
    refused: float = 0.08  # a call fails and has had no effect
    lost: float = 0.08  # a call fails, and has had its effect nevertheless
    partial: float = 0.15  # some entries of a batch call fail
    doubled: float = 0.08  # a message is taken twice
    held_up: float = 0.1  # a message reaches the queue long after it was sent
    undeleted: float = 0.08  # a deletion is acknowledged, and the message comes again
    too_early: float = 0.08  # a message is handed out again though somebody has it in hand
    thrown_out: float = 0.05  # the group takes a living reader for dead
    stopped: float = 0.3  # a process is asked to end, in order
    promotion: float = 0.5  # a member's tier changes meanwhile

    def part(self, chance: random.Random) -> "Weather":
        """Some misfortunes in full, some less, some not at all: a fault that one of them hides shows without it."""
        return Weather(
            **{each.name: getattr(self, each.name) * chance.choice((0.0, 0.3, 0.6, 1.0)) for each in fields(self)}
        )


CALM: Final = Weather(**{each.name: 0.0 for each in fields(Weather)})


@dataclass
class Trace:
    """The events of a run, for the person who has to explain a failure, and for counting the places it reaches."""

    moments: list[tuple[float, str, str]] = field(default_factory=list)
    misfortunes: Counter[str] = field(default_factory=Counter)
    crashes: Counter[str] = field(default_factory=Counter)

    def note(self, who: str, what: str) -> None:
        self.moments.append((asyncio.get_running_loop().time(), who, what))

    def last(self, most: int) -> str:
        return "\n".join(f"{at_s:10.3f} {who}: {what}" for at_s, who, what in self.moments[-most:])


class Storm:
    """Decides every misfortune of a run, until it is told to be calm.

    Each seed aims at one of the places in turn, where crashes are likely, so that few seeds reach all of them.
    """

    def __init__(self, seed: int, trace: Trace, places: Sequence[str]) -> None:
        self.chance = random.Random(f"storm {seed}")
        self.trace = trace
        self.weather = Weather().part(self.chance)
        self.aim = places[seed % len(places)]
        self._aimed_crashes = _AIMED_CRASHES
        self._outages = {name: self._drawn_outages() for name in DEPENDENCIES}
        self._aimed_odds = 0.5
        if self.aim.endswith(".keep"):  # a message is kept seldom, so the first time has to do
            self._aimed_odds = 1.0
            begins = self.chance.uniform(0, LASTING_S / 2)
            worker = self.aim.partition(" ")[0]
            self._outages[_KEEPS_WITHOUT[worker]].append((begins, begins + LASTING_S / 2))
            if worker == "retrier":  # so that it has something in hand by then
                self._outages["tiers"].append((begins - LASTING_S / 10, begins + LASTING_S / 20))

    def strikes(self, misfortune: str, who: str = "") -> bool:
        odds: float = getattr(self.weather, misfortune)
        struck = odds > 0 and self.chance.random() < odds
        if struck:
            self.trace.misfortunes[misfortune] += 1
            self.trace.note(who, misfortune)
        return struck

    def crashes(self, process: str, what: str) -> bool:
        """Whether this step is the last of a process' life."""
        place = f"{process.partition('-')[0]} {what}"
        crashes = self.strikes("crash", process)
        if place == self.aim and self._aimed_crashes and self.chance.random() < self._aimed_odds:
            self._aimed_crashes -= 1
            crashes = True
        if crashes:
            self.trace.crashes[place] += 1
            self.trace.note(process, f"crashes {what}")
        return crashes

    def is_down(self, dependency: str) -> bool:
        now = asyncio.get_running_loop().time()
        down = any(begins <= now < ends for begins, ends in self._outages[dependency])
        if down:
            self.trace.misfortunes[f"{dependency} down"] += 1
        return down

    def calm_down(self) -> None:
        self.weather = CALM
        self._aimed_crashes = 0
        self._outages = {name: [] for name in DEPENDENCIES}

    def _drawn_outages(self) -> list[tuple[float, float]]:
        drawn = []
        for _ in range(self.chance.choice((0, 0, 1, 2))):
            begins = self.chance.choice((0.0, self.chance.uniform(0, LASTING_S)))
            drawn.append((begins, begins + self.chance.choice((2, 10, 40, 100)) * self.chance.uniform(0.5, 1.5)))
        return drawn

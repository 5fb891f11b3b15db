"""Journeys as people write them: read with every fault and its path. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping, quoted, string
from abacus.core.lengths import read_length
from abacus.documents.decide.heading import Term, judge_times, name_reader, read_term
from abacus.documents.decide.texts import faults_of_text
from abacus.engage.actions.decide.templates import Trial
from abacus.engage.journeys.decide.entry_reader import read_entry, read_re_entry
from abacus.engage.journeys.decide.graph import faults_of_graph
from abacus.engage.journeys.decide.journey import AS_IT_COMES, AtEnd, Goal, Journey, Late, Lateness, Leaving
from abacus.engage.journeys.decide.moment_reader import read_quiet_hours
from abacus.engage.journeys.decide.node_reader import read_node_name, read_nodes
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.words import JourneyWords
from abacus.engage.notify.decide.contact_policy import OF_JOURNEYS, MessageKind
from abacus.engage.notify.decide.template import DEFAULT_LOCALE, LOCALE_PATTERN, Unrenderable

MAX_EXITS: Final = 20
MAX_LANGUAGES: Final = 20
MOST_TRIALS: Final = 10_000  # renderings, of which each takes some fifty microseconds
_HIGHEST_PRIORITY: Final = 1_000
_LOCALE: Final = re.compile(LOCALE_PATTERN)
_NONE: Final[Sequence[object]] = ()

_name: Final = name_reader("welcome")


class JourneyFaults(DocumentFaults):
    """Every fault of a journey."""


class Read(NamedTuple):
    """What was read of a document: a journey, where it has no fault yet, and the templates that are to be tried."""

    journey: Journey | None
    faults: Sequence[Fault]
    trials: Sequence[Trial]

    def judged(self, answers: Iterable[object]) -> Journey:
        """After its trials, of which an `Unrenderable` is a fault. Raises `JourneyFaults` with every fault."""
        of_templates: dict[str, Fault] = {}
        for trial, answer in zip(self.trials, answers, strict=True):
            if isinstance(answer, Unrenderable):
                of_templates.setdefault(trial.path, trial.fault(answer))
        if self.journey is None or of_templates:
            raise JourneyFaults([*self.faults, *of_templates.values()])
        return self.journey


def read_journey(document: Mapping[str, object], around: JourneyPublications) -> Read:
    """The draft of a document, be it from TOML or from JSON, judged by what is published. Its templates are not
    tried: the desk does that.
    """
    faults, trials = faults_of_text(document), list[Trial]()
    journey = _journey(document, around, faults, trials)
    if len(trials) > MOST_TRIALS:
        several = f"{len(trials):,} messages, by locale and type of event"
        faults.append(Fault("nodes", f"{several}; write at most {MOST_TRIALS:,}"))
    return Read(None if faults else journey, faults, trials[:MOST_TRIALS])


def parse_journey(document: Mapping[str, object], around: JourneyPublications) -> Journey:
    """The draft of a document whose templates were tried before. Raises `JourneyFaults` with every fault."""
    read = read_journey(document, around)
    return read.judged([None] * len(read.trials))


def restore_journey(document: Mapping[str, object], version: int, numbers: Mapping[str, int]) -> Journey:
    """The journey of a document that was judged before, with the numbers of its nodes. Raises `DocumentFaults` for a
    document that only a newer Abacus can read.
    """
    faults: list[Fault] = []
    journey = _journey(document, None, faults, [])
    if faults:
        raise JourneyFaults(faults)
    return journey.numbered(version, numbers)


def _journey(
    document: Mapping[str, object], around: JourneyPublications | None, faults: list[Fault], trials: list[Trial]
) -> Journey:
    """Adds to the faults and the trials; where there are faults, what it returns is no journey."""
    top = Fields(document, "", faults)
    term = read_term(top, _name)
    words = JourneyWords(around, faults, trials, name=term.name, country=term.country)
    words.languages = top.read_if_there("languages", _languages, (DEFAULT_LOCALE,))
    entry = read_entry(top, term, words)
    re_entry = read_re_entry(top, words)
    before = len(faults)
    begin, nodes = read_nodes(top, words)
    if len(faults) == before and nodes:
        faults += faults_of_graph(begin, nodes)
    journey = Journey(
        **term._asdict(),
        entry=entry,
        begin=begin,
        nodes=nodes,
        context=words.context,
        exits=_exits(top, words),
        goal=_goal(top, words),
        re_entry=re_entry,
        at_end=top.read_if_there("at_end", fields.one_of(AtEnd, "a word for that"), AtEnd.FINISH),
        lateness=_lateness(top),
        quiet_hours=top.read_if_there("quiet_hours", read_quiet_hours, None),
        languages=tuple(words.languages),
        kind=top.read_if_there("kind", _kind, MessageKind.MARKETING.value),
        priority=top.read_if_there("priority", fields.whole(0, _HIGHEST_PRIORITY), 0),
    )
    top.refuse_unknown()
    if around is not None:
        _judge(top, term, around)
    return journey


def _judge(top: Fields, term: Term, around: JourneyPublications) -> None:
    judge_times(top, term, around.beside.now)
    if term.country and term.country not in around.beside.cards:
        top.note("country", f"no rate card of {term.country} is in force, so there is no program to award points in")


def _exits(top: Fields, words: JourneyWords) -> tuple[Leaving, ...]:
    tables = top.read_if_there("exits", _tables, _NONE)
    exits = []
    for place, each in enumerate(tables):
        table = top.entry_table("exits", place, each)
        name = table.read("name", read_node_name, "")
        if "on" in table.values:
            occasion = words.occasion(table)
            if occasion is not None:
                exits.append(Leaving(name, occasion.when, occasion.on))
        else:
            exits.append(Leaving(name, words.needed_rule(table, "when")))
            table.read_if_there("on", lambda value: value, None)
        table.refuse_unknown()
    if len({each.name for each in exits}) < len(exits):
        top.note("exits", "two have one name")
    return tuple(exits)


def _goal(top: Fields, words: JourneyWords) -> Goal | None:
    table = top.table("goal", optional=True)
    if table.is_absent:
        return None
    occasion = words.occasion(table)
    within = table.read("within", read_length, None)
    table.refuse_unknown()
    return None if occasion is None or within is None else Goal(occasion, within)


def _lateness(top: Fields) -> Lateness:
    late = top.read_if_there("late", fields.one_of(Late, "a word for that"), AS_IT_COMES.late)
    return Lateness(late, top.read_if_there("not_later_than", read_length, None))


def _kind(value: object) -> str:
    text = string(value)
    if text not in OF_JOURNEYS:
        raise Bad(f"{quoted(text)} is not a kind of messages of journeys; write {' or '.join(OF_JOURNEYS)}")
    return text


def _languages(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_LANGUAGES:
        raise Bad(f'write an array of 1 to {MAX_LANGUAGES} languages, such as ["en", "id"]')
    languages = tuple(dict.fromkeys(string(each) for each in value))
    for each in languages:
        if not _LOCALE.fullmatch(each):
            raise Bad(f"{each!r} is not a locale such as en, id or en-SG")
    return languages


def _tables(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_EXITS:
        raise Bad(f"write an array of 1 to {MAX_EXITS} tables")
    for each in value:
        mapping(each)
    return value

"""Campaigns as people write them: read with every fault and its path. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, quoted, string
from abacus.core.lengths import read_length
from abacus.documents.decide.heading import Heading, judge_times, name_reader, read_heading
from abacus.documents.decide.texts import faults_of_text
from abacus.engage.actions.decide.templates import Trial
from abacus.engage.campaigns.decide.campaign import CONTROL, LIMIT_WORDS, Campaign, Period, Window
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.step_reader import read_steps
from abacus.engage.campaigns.decide.vocabulary import Words
from abacus.engage.limits.decide.limit_reader import read_limits
from abacus.engage.notify.decide.template import Unrenderable
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.events.decide.vocabulary import EventType, event_type_of

MAX_TYPES: Final = 50
MAX_ARMS: Final = 10
MOST_TRIALS: Final = 10_000  # renderings, of which each takes some fifty microseconds
_WHOLE: Final = 100
_MOST_EVENTS: Final = 1_000_000
_USUAL_GOAL: Final = 2  # the member comes again
_HIGHEST_PRIORITY: Final = 1_000
_NO_SPLIT: Final[tuple[tuple[str, int], ...]] = ()
_WHOLE_LIFE: Final[Window] = Period.CAMPAIGN

_name: Final = name_reader("third_order")


class CampaignFaults(DocumentFaults):
    """Every fault of a campaign."""


class Read(NamedTuple):
    """What was read of a document: a campaign, where it has no fault yet, and the templates that are to be tried."""

    campaign: Campaign | None
    faults: Sequence[Fault]
    trials: Sequence[Trial]

    def judged(self, answers: Iterable[object]) -> Campaign:
        """After its trials, of which an `Unrenderable` is a fault. Raises `CampaignFaults` with every fault."""
        of_templates: dict[str, Fault] = {}
        for trial, answer in zip(self.trials, answers, strict=True):
            if isinstance(answer, Unrenderable):
                of_templates.setdefault(trial.path, trial.fault(answer))
        if self.campaign is None or of_templates:
            raise CampaignFaults([*self.faults, *of_templates.values()])
        return self.campaign


def read_campaign(document: Mapping[str, object], around: Publications) -> Read:
    """The draft of a document, be it from TOML or from JSON, judged by what is published. Its templates are not tried:
    `trying.py` does that.
    """
    faults, trials = faults_of_text(document), list[Trial]()
    campaign = _campaign(document, around, faults, trials)
    if len(trials) > MOST_TRIALS:
        several = f"{len(trials):,} messages, by locale and type of event"
        faults.append(Fault("steps", f"{several}; write at most {MOST_TRIALS:,}"))
    return Read(None if faults else campaign, faults, trials[:MOST_TRIALS])


def parse_campaign(document: Mapping[str, object], around: Publications) -> Campaign:
    """The draft of a document whose templates were tried before. Raises `CampaignFaults` with every fault."""
    read = read_campaign(document, around)
    return read.judged([None] * len(read.trials))


def restore_campaign(document: Mapping[str, object], version: int) -> Campaign:
    """The campaign of a document that was judged before. Raises `DocumentFaults` for a document that only a newer
    Abacus can read.
    """
    faults: list[Fault] = []
    campaign = _campaign(document, None, faults, [])
    if faults:
        raise CampaignFaults(faults)
    return campaign.numbered(version)


def _campaign(
    document: Mapping[str, object], around: Publications | None, faults: list[Fault], trials: list[Trial]
) -> Campaign:
    """Adds to the faults and the trials; where there are faults, what it returns is no campaign."""
    top = Fields(document, "", faults)
    heading = read_heading(top, _name)
    card = _card(top, heading.country, around)
    on = _on(top.read("on", _texts, ()), around, faults)
    words = Words(on, around, faults, trials, heading.country)
    when = words.rule(top, "when")
    over = top.read_if_there("over", _over, _WHOLE_LIFE)
    split = top.read_if_there("split", _split, _NO_SPLIT)
    goal = _goal(top, split)
    steps = read_steps(top, words, _arms(split, top))
    limits = read_limits(top.table("limits"), LIMIT_WORDS, card)
    priority = top.read_if_there("priority", fields.whole(0, _HIGHEST_PRIORITY), 0)
    exclusive = top.read_if_there("exclusive", _name, None)
    respects_holdout = top.read_if_there("respects_holdout", fields.flag, default=False)
    top.refuse_unknown()
    if around is not None:
        _judge(top, heading, around, words)
    return Campaign(
        **heading._asdict(),
        on=on,
        steps=steps,
        limits=limits,
        over=over,
        when=when,
        split=split,
        goal=goal,
        priority=priority,
        exclusive=exclusive,
        respects_holdout=respects_holdout,
    )


def _judge(top: Fields, heading: Heading, around: Publications, words: Words) -> None:
    judge_times(top, heading, around.now)
    try:
        words.check_members()
    except Bad as bad:
        top.note("on", f"a campaign is for members: {bad}")


def _card(top: Fields, country: str, around: Publications | None) -> PublishedCard | None:
    if around is None or not country:
        return None
    if country not in around.cards:
        top.note("country", f"no rate card of {country} is in force, so there is no program to award points in")
    return around.cards.get(country)


def _arms(split: Sequence[tuple[str, int]], top: Fields) -> frozenset[str]:
    """The names of the arms, also where their shares are at fault, which is noted."""
    named = top.values.get("split")
    return frozenset(arm for arm, _ in split) or frozenset(named if isinstance(named, Mapping) else ())


def _goal(top: Fields, split: Sequence[object]) -> int:
    if "goal" in top.values and "split" not in top.values:
        top.note("goal", "conversions are told by arm; write a split too")
    return top.read_if_there("goal", fields.whole(1, _MOST_EVENTS), _USUAL_GOAL if split else 0)


def _texts(value: object) -> Sequence[str]:
    if not isinstance(value, list | tuple) or not value:
        raise Bad('write an array of types of events, such as ["transactions/transaction.completed"]')
    if len(value) > MAX_TYPES:
        raise Bad(f"{len(value)} types of events; write at most {MAX_TYPES}")
    return [string(each) for each in value]


def _on(texts: Sequence[str], around: Publications | None, faults: list[Fault]) -> tuple[EventType, ...]:
    """Each type once; nothing, where one has a fault."""
    on: dict[EventType, None] = {}
    before = len(faults)
    for place, text in enumerate(texts):
        try:
            on[event_type_of(text, None if around is None else around.sources)] = None
        except Bad as bad:
            faults.append(Fault(f"on[{place}]", str(bad)))
    return tuple(on) if len(faults) == before else ()


def _over(value: object) -> Window:
    text = string(value)
    if text in list(Period):
        return Period(text)
    try:
        return read_length(text)
    except Bad:
        raise Bad(f"{quoted(text)}; write {', '.join(Period)}, or the length of a sliding window, such as 7d") from None


def _split(value: object) -> tuple[tuple[str, int], ...]:
    shares = fields.mapping(value)
    if not 2 <= len(shares) <= MAX_ARMS:  # noqa: PLR2004  # one arm is no split
        raise Bad(f"write 2 to {MAX_ARMS} arms with their shares, such as {{{CONTROL} = 10, a = 90}}")
    arms = tuple((_name(arm), fields.whole(1, _WHOLE)(share)) for arm, share in sorted(shares.items()))
    if (total := sum(share for _, share in arms)) != _WHOLE:
        raise Bad(f"the shares make {total}; they have to make {_WHOLE}")
    return arms

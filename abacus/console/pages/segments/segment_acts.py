"""What can be done to a segment: made, changed by a list of members, combined with another, and dropped."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from abacus.console.decide.effects import Effect
from abacus.console.decide.form_field import FormField
from abacus.console.decide.segment_words import faults, sentences
from abacus.console.pages.segments.segment_act import FILE, IDS, SegmentAct
from abacus.console.pages.segments.segment_list import has_open_members, is_open
from abacus.console.web.calls import Call
from abacus.console.web.confirmation import Prepared
from abacus.console.web.forms import DoneBefore, Form, WrongForm
from abacus.console.web.page import Said, See
from abacus.core.errors import Refused
from abacus.engage.campaigns.uses import campaign_uses
from abacus.people.types.deed import Deed
from abacus.platform.postgres import nothing_else
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.segments.decide.change import check_name, sentence
from abacus.signals.segments.decide.listed import Listed, listed
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import Changed, How, Outlook, Segment

_ALL: Final = "all"
_LIST: Final = (
    FormField(IDS, "Members", type="textarea", hint="Their ids, one on each line."),
    FormField(
        FILE,
        "Or a file",
        type="file",
        hint="Text in UTF-8 of at most a megabyte: an id on each line, or CSV with the column member_id. The command"
        " takes larger ones.",
    ),
)
_OF_LIST: Final = ((How.ADD, "put these members in"), (How.REMOVE, "take these out"), (How.LOAD, "have exactly these"))
_OF_TWO: Final = (
    (How.UNION, "all members of both"),
    (How.INTERSECT, "only members of both"),
    (How.SUBTRACT, "its members without the members of the other"),
)


async def _make_fields(call: Call, _: Segment | None) -> Sequence[FormField]:
    name = FormField(
        "name", "Name", hint="Small letters, digits and _, such as win_back. A rule writes segment.win_back."
    )
    country = FormField("country", "Who may change it", options=_countries(call), value=_ALL)
    return (name, country, *_LIST)


async def _make(call: Call, typed: Form, _: Segment | None) -> Prepared:
    name, chosen = typed.get("name"), typed.get("country")
    if chosen not in dict(_countries(call)):
        raise WrongForm(typed.but(country="Choose one."))
    country = None if chosen == _ALL else chosen
    desk = call.rooms[SegmentDesk]
    try:
        check_name(name)
        if any(each.name == name for each in await desk.all()):
            raise WrongForm(typed.but(name=f"There is a segment {name}: change that one, or write another name."))
        await desk.country(name, How.LOAD, call.actor, country)
        return await _by_list(call, typed, name, How.LOAD, country)
    except Refused as fault:
        raise WrongForm(typed.but(name=f"{fault}.")) from None


async def _change_fields(_: Call, __: Segment | None) -> Sequence[FormField]:
    return (FormField("how", "What", options=_OF_LIST), *_LIST)


async def _change(call: Call, typed: Form, segment: Segment | None) -> Prepared:
    here, how = _there(segment), _chosen(typed, _OF_LIST)
    return await _by_list(call, typed, here.name, how, here.country)


async def _combine_fields(call: Call, segment: Segment | None) -> Sequence[FormField]:
    here = _there(segment)
    others = [(each.name, f"{each.name}, {each.size:,} members") for each in await _others(call, here)]
    return (
        FormField("how", "Have", options=_OF_TWO),
        FormField("other", "The other segment", options=[("", "choose"), *others]),
        FormField("into", "Name of a new segment", hint=f"{here.name} stays as it is then; otherwise it is changed."),
    )


async def _combine(call: Call, typed: Form, segment: Segment | None) -> Prepared:
    here, how, other = _there(segment), _chosen(typed, _OF_TWO), typed.get("other")
    if other not in {each.name for each in await _others(call, here)}:
        raise WrongForm(typed.but(other="Choose one."))
    into, desk = typed.get("into") or here.name, call.rooms[SegmentDesk]
    if into != here.name and any(each.name == into for each in await desk.all()):
        raise WrongForm(typed.but(into=f"There is a segment {into}: write another name."))
    try:
        await desk.country(into, How.LOAD, call.actor, here.country)
        seen = await desk.outlook_of_two(here.name, how, other, into)
    except Refused as fault:
        raise WrongForm(typed.but(into=f"{fault}.")) from None

    async def does() -> Changed:
        return await desk.combine(here.name, how, other, call.actor, into=into, also=call.once(nothing_else))

    return Prepared(_effects(into, seen), _done(typed, into, does), sentences(how, seen))


async def _drop_fields(_: Call, __: Segment | None) -> Sequence[FormField]:
    return (FormField("again", "The segment's name, once more"),)


async def _drop(call: Call, typed: Form, segment: Segment | None) -> Prepared:
    here = _there(segment)
    if typed.get("again") != here.name:
        raise WrongForm(typed.but(again="That is not the name of this segment."))
    uses = await campaign_uses(call.premises.pool, call.now, SEGMENT.name, here.name)
    asking = dict.fromkeys(each.name for each in uses if call.may(Deed.SEE, each.country))
    hidden = len({each.name for each in uses} - {*asking})
    notes = [f"The campaign {each} asks for it, and finds nobody in it from then on." for each in asking]
    if hidden:
        notes.append(f"Campaigns of other countries that ask for it, too: {hidden:,}.")

    async def does() -> Changed:
        return await call.rooms[SegmentDesk].drop(here.name, call.actor, also=call.once(nothing_else))

    return Prepared([Effect("Members", f"{here.size:,}", "0")], _done(typed, here.name, does), notes)


async def _by_list(call: Call, typed: Form, name: str, how: How, country: str | None) -> Prepared:
    """Raises `WrongForm`."""
    desk, given = call.rooms[SegmentDesk], _list(typed)
    try:
        seen = await desk.outlook(name, how, given.members, country)
    except Refused as fault:
        raise WrongForm(typed.but(**{IDS: f"{fault}."})) from None

    async def does() -> Changed:
        members = await desk.numbers(how, given.members)
        return await desk.change(name, how, members, call.actor, country=country, also=call.once(nothing_else))

    return Prepared(_effects(name, seen), _done(typed, name, does), sentences(how, seen, again=given.again))


def _list(typed: Form) -> Listed:
    found = listed(typed.exactly(IDS))
    if found.bad:
        raise WrongForm(typed.but(**{IDS: faults(found.bad)}))
    if not found.members:
        raise WrongForm(typed.but(**{IDS: "Name one member at least."}))
    return found


def _effects(name: str, seen: Outlook) -> list[Effect]:
    return [
        Effect(f"Members of {name}", f"{seen.before.size:,}" if seen.before is not None else None, f"{seen.size:,}")
    ]


def _done(typed: Form, name: str, does: Callable[[], Awaitable[Changed]]) -> Callable[[], Awaitable[See]]:
    """Goes on to the segment, which says what was done."""

    async def done() -> See:
        try:
            said = Said(f"{sentence(await does())}.")
        except DoneBefore:
            said = Said("It was sent twice, and done once.", "waiting")
        except Refused as fault:
            raise WrongForm(typed, f"{fault}.") from None
        return See(f"/segments/{name}", said)

    return done


def _there(segment: Segment | None) -> Segment:
    if segment is None:
        raise TypeError("the deed is for a segment that is there")
    return segment


def _chosen(typed: Form, options: Sequence[tuple[How, str]]) -> How:
    if typed.get("how") not in dict(options):
        raise WrongForm(typed.but(how="Choose one."))
    return How(typed.get("how"))


async def _others(call: Call, here: Segment) -> list[Segment]:
    """Of what is combined the members are seen afterwards: they have to be open to the person."""
    found = await call.rooms[SegmentDesk].all()
    return [each for each in found if each.name != here.name and is_open(call, each) and has_open_members(call, each)]


def _countries(call: Call) -> list[tuple[str, str]]:
    own = call.countries(Deed.PUBLISH_SEGMENTS)
    if own is not None:
        return [(each, f"editors of {each}") for each in own]
    return [(_ALL, "editors of all countries"), *((each, f"editors of {each}") for each in call.premises.countries())]


ACTS: Final = (
    SegmentAct(
        name="new",
        label="Make a segment",
        about="A named set of members, which the rules of campaigns ask for.",
        fields=_make_fields,
        prepare=_make,
        of_new=True,
    ),
    SegmentAct(
        name="change",
        label="Change the members",
        about="Put members in, take some out, or have exactly the members of a list. Each change is another version.",
        fields=_change_fields,
        prepare=_change,
    ),
    SegmentAct(
        name="combine",
        label="Combine",
        about="With the members of another segment, into a new one or into this.",
        fields=_combine_fields,
        prepare=_combine,
    ),
    SegmentAct(
        name="drop",
        label="Drop the segment",
        about="Nobody is in it any more, and it is listed no more. Its name may be used again.",
        fields=_drop_fields,
        prepare=_drop,
        is_final=True,
    ),
)

"""Templates: the shipped ones, an operator's own, and the bad ones, which are refused by name."""

from datetime import date
from pathlib import Path

import pytest

from abacus.core.errors import Refused
from abacus.engage.notify.decide.news import SAMPLES, WITH_TEMPLATES, Earned, NewsKind, Portion
from abacus.engage.notify.decide.template import day
from abacus.engage.notify.templates import SHIPPED, load_templates, words_of

EARNED = SAMPLES[NewsKind.EARNED][0]
TIER = SAMPLES[NewsKind.TIER_CHANGED][0]


def test_every_kind_is_there_in_every_locale() -> None:
    templates = load_templates(None)
    assert len(list(SHIPPED.glob("*.txt"))) == len(WITH_TEMPLATES) * 3
    for kind in WITH_TEMPLATES:
        titles = {templates.render(SAMPLES[kind][0], locale).title for locale in ("en", "id", "vi")}
        assert len(titles) == 3


@pytest.mark.parametrize(
    ("locale", "title"),
    [
        ("en", "You earned 1,250 points"),
        ("en-GB", "You earned 1,250 points"),
        ("id", "Anda mendapat 1.250 poin"),
        ("id-ID", "Anda mendapat 1.250 poin"),
        ("vi", "Bạn vừa nhận được 1.250 điểm"),
        ("th", "You earned 1,250 points"),
        ("nonsense", "You earned 1,250 points"),
    ],
)
def test_a_locale_falls_back_to_its_language_and_to_english(locale: str, title: str) -> None:
    assert load_templates(None).render(EARNED, locale).title == title


def test_days_are_written_as_people_write_them() -> None:
    templates = load_templates(None)
    assert "31 July 2026" in templates.render(EARNED, "en").text
    assert "31 Juli 2026" in templates.render(EARNED, "id").text
    assert "31/7/2026" in templates.render(EARNED, "vi").text


LOTS = (Portion(points=50, expires_on=date(2027, 5, 31)),)


@pytest.mark.parametrize("locale", ["en", "id", "vi"])
@pytest.mark.parametrize("lots", [LOTS, (Portion(points=10, expires_on=date(2026, 11, 30)), *LOTS)], ids=["one", "two"])
def test_points_by_lots_are_promised_until_their_own_days_alone(locale: str, lots: tuple[Portion, ...]) -> None:
    """50 points until 31 May, and of the 160 that are there 110 lapse in November: no transaction moves a date."""
    by_lots = Earned(
        program="GRP", country="SG", points=50, count=1, balance=160, expires_on=None, lots=lots, lifetime=True
    )
    by_activity = Earned(program="GRP", country="SG", points=50, count=1, balance=160, expires_on=lots[0].expires_on)
    templates = load_templates(None)
    told, else_told = templates.render(by_lots, locale).text, templates.render(by_activity, locale).text
    assert all(day(lot.expires_on, locale) in told for lot in lots)
    assert told.index(day(lots[-1].expires_on, locale)) < told.index("160")
    promise = else_told.rpartition(";")[2]
    assert promise.strip()
    assert promise not in told


@pytest.mark.parametrize("locale", ["en", "id", "vi"])
@pytest.mark.parametrize("kind", [NewsKind.EXPIRED, NewsKind.EXPIRING])
def test_nobody_is_told_that_a_transaction_keeps_points_by_lots(kind: NewsKind, locale: str) -> None:
    by_activity = SAMPLES[kind][0]
    by_lots = by_activity.model_copy(update={"lifetime": True})
    templates = load_templates(None)
    assert templates.render(by_lots, locale).text != templates.render(by_activity, locale).text
    assert "keeps all your points" not in templates.render(by_lots, locale).text
    assert "no transaction in time" not in templates.render(by_lots, locale).text


def test_a_message_of_several_parts_has_the_first_title_and_all_texts() -> None:
    words = words_of(load_templates(None), [TIER, EARNED], "en")
    assert words.title == "Congratulations, you are silver now"
    assert words.text.splitlines()[0].startswith("Your GRP tier went from member to silver")
    assert words.text.splitlines()[1].startswith("1,250 points from 3 awards")


def test_an_operators_folder_replaces_by_name_and_adds_locales(tmp_path: Path) -> None:
    (tmp_path / "earned.en.txt").write_text("Hurray\n{{ number(points) }} more\n")
    (tmp_path / "earned.th.txt").write_text("ได้ {{ number(points) }}\n{{ day(expires_on) if expires_on else '-' }}\n")
    (tmp_path / "README.md").write_text("not a template")
    templates = load_templates(tmp_path)
    assert templates.render(EARNED, "en") == ("Hurray", "1,250 more")
    assert templates.render(EARNED, "th-TH") == ("ได้ 1,250", "2026-07-31")
    assert templates.render(TIER, "th").title == "Congratulations, you are silver now"


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("earned.en.txt", "Hi\n{{ pionts }}", "'pionts' is no field of earned; there are balance, count, country,"),
        ("earned.en.txt", "Hi\n{% if count > 99 %}{{ pionts }}{% endif %}x", "'pionts' is no field of earned"),
        ("expired.en.txt", "Hi\n{{ expires_on }}", "'expires_on' is no field of expired"),
        ("earned.en.txt", "Hi\n{{ points.size }}", "'int object' has no attribute 'size' (an unknown field)"),
        ("earned.en.txt", "Hi\n{{ day(expires_on) }}", "it does not render: 'NoneType' object has no attribute"),
        ("earned.en.txt", "Hi\n{{ points / (count - 1) }}", "it does not render: division by zero"),
        ("earned.en.txt", "Hi\n{{ points.__class__.__mro__ }}", "access to attribute '__class__'"),
        ("earned.en.txt", "Hi\n{% include 'expired.en.txt' %}", "line 2: include is not for messages"),
        ("earned.en.txt", "Hi\n{% if points %}", "line 2: Unexpected end of template"),
        ("earned.en.txt", "Hi\n{{ points | shout }}", "line 2: No filter named 'shout'"),
        ("earned.en.txt", "Only a title", "the first line is the title and the rest the text"),
        ("earned.en.txt", "", "the first line is the title and the rest the text"),
        ("earned.en.txt", "x" * 101 + "\ntext", "the title has more than 100 characters"),
        ("earned.en.txt", "Hi\n" + "x" * 16_384, "more than 16,384 characters"),
        ("lottery.en.txt", "Hi\nyou won", "a template is named EVENT.LOCALE.txt, EVENT being one of earned, expired,"),
        ("earned.txt", "Hi\nyou", "a template is named EVENT.LOCALE.txt"),
        ("earned.english.txt", "Hi\nyou", "a template is named EVENT.LOCALE.txt"),
    ],
)
def test_a_bad_template_is_refused_by_name(tmp_path: Path, name: str, source: str, fault: str) -> None:
    (tmp_path / name).write_text(source)
    with pytest.raises(Refused) as refused:
        load_templates(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path / name}: ")
    assert fault in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_text_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="No such file or directory"):
        load_templates(tmp_path / "nowhere")
    (tmp_path / "earned.en.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match=r"earned.en.txt: not UTF-8"):
        load_templates(tmp_path)

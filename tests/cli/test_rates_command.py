"""`abacus rates` as people and scripts use it, against a real Postgres."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from abacus.cli.rates.commands import app
from abacus.pricing.decide.card import parse_toml
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once


class Outcome(NamedTuple):
    """The exit code and the output of a command."""

    exit_code: int
    stdout: str
    stderr: str


Abacus = Callable[..., Awaitable[Outcome]]

SINGAPORE = files("abacus.cli.examples").joinpath("cards", "sg.toml").read_text("utf-8")
INDONESIA = files("abacus.cli.examples").joinpath("cards", "id.toml").read_text("utf-8")


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return write(tmp_path, "sg.toml", SINGAPORE)


@pytest.fixture
def abacus(database_url: str) -> Abacus:
    """`abacus rates …` on the test's database, in a thread because a command runs an event loop of its own."""

    async def command(*words: str | Path) -> Outcome:
        return await asyncio.to_thread(run, database_url, *words)

    return command


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def run(database_url: str, *words: str | Path) -> Outcome:
    environment = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "120"}
    result = CliRunner().invoke(app, [str(word) for word in words], env=environment)
    return Outcome(result.exit_code, result.stdout, result.stderr)


def dearer(toml: str, food: str) -> str:
    """The card with another multiplier for food."""
    return toml.replace('food = "2"', f'food = "{food}"')


def lint(*words: str | Path) -> Outcome:
    return run("", "lint", *words)


def test_lint_needs_no_database(card: Path) -> None:
    result = lint(card)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{card}: SG from 2026-01-01T00:00:00+08:00, no faults\n"


def test_lint_names_every_fault_of_every_file(card: Path, tmp_path: Path) -> None:
    bad = write(
        tmp_path, "bad.toml", SINGAPORE.replace('food = "2"', 'food = "-2"').replace('eppf = "1"', "eppf = 1.5")
    )
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'scope = "\xe9"')
    result = lint(card, bad, latin, tmp_path / "none.toml")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f'abacus: {bad}: eppf: 1.5 is a float; write it as a string, "1.5"',
        f"abacus: {bad}: verticals.food: '-2' is negative",
        f"abacus: {latin}: document: not UTF-8 at byte 9",
        f"abacus: {tmp_path}/none.toml: document: No such file or directory",
    ]


async def test_publishing_says_what_changes_and_the_new_name(abacus: Abacus, card: Path) -> None:
    result = await abacus("publish", card)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"{card} against nothing:\n  first card of SG, effective from 2026-01-01\n" in result.stdout
    assert result.stdout.endswith("SG@1 published, effective from 2026-01-01T00:00:00+08:00\n")
    write(card.parent, card.name, SINGAPORE.replace('food = "2"', 'food = "2.5"').replace("2026-01-01", "2026-02-01"))
    result = await abacus("publish", card, "--yes")
    assert result.stdout.splitlines() == [
        f"{card} against SG@1:",
        "  verticals.food: 2 → 2.5 (+25 %)",
        "  effective from 2026-02-01 (was 2026-01-01): late transactions before that keep the old rates",
        "SG@2 published, effective from 2026-02-01T00:00:00+08:00",
    ]


async def test_publishing_for_scripts_skips_what_is_published(abacus: Abacus, card: Path) -> None:
    await abacus("publish", card)
    other = write(card.parent, "id.toml", INDONESIA)
    corrected = write(card.parent, "id2.toml", INDONESIA.replace('gold = "2"', 'gold = "2.5"'))
    result = await abacus("publish", card, other, corrected, "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["unchanged"] == [str(card)]
    assert [(row["file"], row["name"]) for row in document["published"]] == [
        (str(other), "ID@1"),
        (str(corrected), "ID@2"),
    ]
    assert document["published"][1]["changes"] == ["tiers.gold: 2 → 2.5 (+25 %)"]


async def test_show(abacus: Abacus, card: Path) -> None:
    await abacus("publish", card)
    for which, name in (("SG", "SG@1"), ("SG@1", "SG@1"), (str(card), None)):
        document = json.loads((await abacus("show", which, "--json")).stdout)
        assert (document["name"], document["card"]["verticals"]["food"]) == (name, "2")
        assert parse_toml((await abacus("show", which, "--toml")).stdout) == parse_toml(SINGAPORE)
    table = (await abacus("show", "SG")).stdout
    assert "tier_policy.thresholds.gold" in table


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ("SG@2", "there is no rate card 'SG@2'; `abacus rates timeline SG` prints its versions"),
        ("ID", "there is no rate card 'ID'; `abacus rates list` prints all"),
        ("x.toml", "'x.toml' does not name a rate card; write a scope such as SG, or a version such as SG@7"),
    ],
)
async def test_what_cannot_be_shown(abacus: Abacus, card: Path, which: str, message: str) -> None:
    await abacus("publish", card)
    result = await abacus("show", which)
    code = 1 if message.startswith("there is no ") else 2
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"abacus: {message}\n")


async def test_list(abacus: Abacus, card: Path) -> None:
    later = write(card.parent, "id.toml", INDONESIA.replace("2026-01-01", "2999-01-01"))
    early = write(card.parent, "early.toml", SINGAPORE.replace("2026-01-01", "2020-01-01"))
    later_still = write(card.parent, "later.toml", SINGAPORE.replace("2026-01-01", "2999-01-01"))
    await abacus("publish", early, later_still, later)
    assert json.loads((await abacus("list", "--json")).stdout) == [
        {
            "scope": "ID",
            "version": 1,
            "name": "ID@1",
            "effective_from": "2999-01-01T00:00:00+07:00",
            "program": "OVO",
            "in_force": None,
            "since": None,
            "next": "ID@1",
            "next_from": "2999-01-01T00:00:00+07:00",
        },
        {
            "scope": "SG",
            "version": 2,
            "name": "SG@2",
            "effective_from": "2999-01-01T00:00:00+08:00",
            "program": "GRP",
            "in_force": "SG@1",
            "since": "2020-01-01T00:00:00+08:00",
            "next": "SG@2",
            "next_from": "2999-01-01T00:00:00+08:00",
        },
    ]
    assert "SG@1" in (await abacus("list")).stdout


async def test_a_scheduled_card_stays_in_view_when_another_is_published(abacus: Abacus, card: Path) -> None:
    """The audit's case: December's card is published, then a correction for now. Both are seen, and the correction is
    compared with the card that it displaces.
    """
    december = write(card.parent, "december.toml", dearer(SINGAPORE, "3").replace("2026-01-01", "2999-12-01"))
    await abacus("publish", card, december)
    write(card.parent, card.name, dearer(SINGAPORE, "2.5").replace("2026-01-01", "2026-02-01"))
    result = await abacus("publish", card)
    assert result.stdout.splitlines() == [
        f"{card} against SG@1:",
        "  verticals.food: 2 → 2.5 (+25 %)",
        "  effective from 2026-02-01 (was 2026-01-01): late transactions before that keep the old rates",
        "  until SG@2 takes over",
        "SG@3 published, effective from 2026-02-01T00:00:00+08:00",
    ]
    (row,) = json.loads((await abacus("list", "--json")).stdout)
    assert (row["in_force"], row["next"], row["next_from"]) == ("SG@3", "SG@2", "2999-12-01T00:00:00+08:00")
    rows = json.loads((await abacus("timeline", "SG", "--json")).stdout)
    assert [(each["name"], each["phase"], each["until"]) for each in rows] == [
        ("SG@1", "past", "2026-02-01T00:00:00+08:00"),
        ("SG@3", "in force", "2999-12-01T00:00:00+08:00"),
        ("SG@2", "scheduled", None),
    ]


async def test_a_scheduled_card_is_withdrawn(abacus: Abacus, card: Path) -> None:
    later = write(card.parent, "later.toml", dearer(SINGAPORE, "3").replace("2026-01-01", "2999-12-01"))
    await abacus("publish", card, later)
    result = await abacus("withdraw", "SG@2", "--reason", "not agreed")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "SG@2 withdrawn; SG@1 is in force from 2999-12-01T00:00:00+08:00 on\n"
    (row,) = json.loads((await abacus("list", "--json")).stdout)
    assert (row["name"], row["in_force"], row["next"]) == ("SG@1", "SG@1", None)
    first, second = json.loads((await abacus("timeline", "--json")).stdout)
    assert (first["published_by"], first["withdrawn_by"]) == (LOGIN, None)
    assert [second[name] for name in ("phase", "until", "withdrawn_by", "withdrawn_because")] == [
        "withdrawn",
        None,
        LOGIN,
        "not agreed",
    ]
    assert json.loads((await abacus("show", "SG", "--json")).stdout)["name"] == "SG@1"
    assert json.loads((await abacus("show", "SG@2", "--json")).stdout)["card"]["verticals"]["food"] == "3"
    again = await abacus("publish", later)
    assert again.stdout.endswith("SG@3 published, effective from 2999-12-01T00:00:00+08:00\n")


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ("SG@1", "SG@1 is in force, or will be within 10 minutes, and processes rely on it"),
        ("SG@9", "there is no rate card 'SG@9'"),
        ("SG", "'SG' names no version; write one such as SG@1"),
    ],
)
async def test_what_cannot_be_withdrawn(abacus: Abacus, card: Path, which: str, message: str) -> None:
    await abacus("publish", card)
    result = await abacus("withdraw", which, "--reason", "a mistake")
    assert (result.exit_code, result.stdout) == (1 if message.startswith("there is no ") else 2, "")
    assert result.stderr.startswith(f"abacus: {message}")


async def test_an_old_card_is_restored(abacus: Abacus, card: Path) -> None:
    dear = write(card.parent, "dear.toml", dearer(SINGAPORE, "3").replace("2026-01-01", "2026-02-01"))
    await abacus("publish", card, dear)
    result = await abacus("restore", "SG@1", "--from", "2999-12-01T00:00:00+08:00")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:2] == ["SG@1 against SG@2:", "  verticals.food: 3 → 2 (-33.3 %)"]
    restored = parse_toml((await abacus("show", "SG@3", "--toml")).stdout)
    assert restored == parse_toml(SINGAPORE.replace("2026-01-01", "2999-12-01"))
    nothing = await abacus("restore", "SG@1", "--from", "2999-12-01T00:00:00+08:00")
    assert nothing.stderr == "abacus: nothing to publish: the cards are in the store already\n"
    missing = await abacus("restore", "SG@7", "--from", "2999-12-01T00:00:00+08:00")
    assert missing.stderr.startswith("abacus: there is no rate card 'SG@7'")


def test_a_database_that_is_away_is_one_line() -> None:
    result = run("postgresql://nobody@127.0.0.1:1/none", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("abacus: database unavailable: ")
    assert result.stderr.count("\n") == 1

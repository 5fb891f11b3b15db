"""What is against a link, and what is shown of a number."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from abacus.exchanges.decide.link import (
    Attempts,
    Link,
    LinkFault,
    LinkRefused,
    LinkState,
    check_attempts,
    check_usable,
    number_digest,
    shown,
)

NOW = datetime(2026, 3, 1, 22, tzinfo=UTC)
LINK = Link(
    UUID(int=1), "skymiles", "skyline", "bob", "…4321", LinkState.ASKED, None, 0, NOW, "partner:app", *[None] * 5
)
VERIFIED = LINK._replace(state=LinkState.VERIFIED, verified_at=NOW, usable_from=NOW + timedelta(days=7))


@dataclass
class Case:
    """A link, and what is against using it."""

    link: Link | None
    fault: LinkFault
    state: LinkState | None = None


@pytest.mark.parametrize(
    "case",
    [
        Case(None, LinkFault.NO_LINK),
        Case(LINK, LinkFault.NOT_VERIFIED, LinkState.ASKED),
        Case(VERIFIED, LinkFault.COOLING_OFF, LinkState.COOLING),
        Case(VERIFIED._replace(state=LinkState.ENDED, ended_at=NOW), LinkFault.NO_LINK, LinkState.ENDED),
    ],
    ids=lambda case: case.fault,
)
def test_what_is_against_a_link_is_told(case: Case) -> None:
    with pytest.raises(LinkRefused) as refused:
        check_usable(case.link, "skymiles", NOW)
    assert refused.value.fault is case.fault
    assert case.link is None or case.link.state_at(NOW) is case.state


def test_a_link_may_be_used_from_the_end_of_its_cooling_off() -> None:
    assert check_usable(VERIFIED, "skymiles", NOW + timedelta(days=7)) is VERIFIED


def test_a_number_is_the_same_however_its_parts_are_kept_apart_and_another_at_another_programme() -> None:
    digest = number_digest(b"k", "skymiles", "AB-1234 5678")
    assert digest == number_digest(b"k", "skymiles", "ab12345678")
    assert number_digest(b"k", "skymiles", "j.tan@mail") != number_digest(b"k", "skymiles", "jtan@mail")
    assert digest != number_digest(b"k", "bankpoints", "ab12345678") != number_digest(b"l", "bankpoints", "ab12345678")


def test_only_the_end_of_a_number_is_shown() -> None:
    assert (shown("AB12345678"), shown("A1234")) == ("…5678", "…34")


def test_too_many_attempts_end_at_midnight() -> None:
    check_attempts([2, 1], Attempts(2, 1), NOW)
    for counts in ([3, 1], [1, 2]):
        with pytest.raises(LinkRefused) as refused:
            check_attempts(counts, Attempts(2, 1), NOW)
        assert (refused.value.fault, refused.value.retry_after_s) == (LinkFault.TOO_MANY_ATTEMPTS, 2 * 3600)

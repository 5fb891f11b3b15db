"""Who may do what: a table, and what holds for every actor and deed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.people.decide.names import parse_grants
from abacus.people.decide.rights import check, check_admin_is_left, check_may_manage, countries_of, may, roles_for
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Person, PersonToken, Registered, Role

LOGIN = Actor("root@host", None)
NOW = datetime(2026, 11, 27, tzinfo=UTC)


def person(*roles: str) -> Actor:
    return Actor("ann", parse_grants(roles))


@pytest.mark.parametrize(
    ("actor", "deed", "country", "allowed"),
    [
        (person("support:SG"), Deed.ADJUST, "SG", True),
        (person("support:SG"), Deed.ADJUST, "ID", False),
        (person("support:SG"), Deed.ADJUST, None, False),
        (person("support"), Deed.ADJUST, "ID", True),
        (person("support"), Deed.ADJUST, None, True),
        (person("support"), Deed.APPROVE, "SG", False),
        (person("approver:SG"), Deed.APPROVE, "SG", True),
        (person("approver:SG"), Deed.ADJUST, "SG", False),
        (person("viewer"), Deed.SEE, "SG", True),
        (person("viewer"), Deed.MOVE_POINTS, "SG", False),
        (person("country_editor:ID"), Deed.PUBLISH_RATES, "ID", True),
        (person("country_editor:ID"), Deed.PUBLISH_RATES, "SG", False),
        (person("country_editor"), Deed.PUBLISH_COUNTERS, None, True),
        (person("country_editor:ID"), Deed.PUBLISH_COUNTERS, None, False),
        (person("operator"), Deed.PUBLISH_COUNTERS, None, True),
        (person("viewer"), Deed.PUBLISH_COUNTERS, None, False),
        (LOGIN, Deed.PUBLISH_COUNTERS, None, True),
        (person("operator"), Deed.PUBLISH_DOWNSTREAMS, None, True),
        (person("country_editor"), Deed.PUBLISH_DOWNSTREAMS, None, False),
        (person("country_editor:ID"), Deed.PUBLISH_SEGMENTS, "ID", True),
        (person("country_editor:ID"), Deed.PUBLISH_SEGMENTS, None, False),
        (person("operator"), Deed.PUBLISH_SEGMENTS, None, True),
        (person("support"), Deed.PUBLISH_SEGMENTS, None, False),
        (person("finance"), Deed.SET_ASSUMPTIONS, "SG", True),
        (person("finance"), Deed.SEAL, None, True),
        (person("finance:SG"), Deed.EXPIRE, "SG", True),
        (person("finance"), Deed.RUN_JOBS, None, False),
        (person("support"), Deed.SEAL, None, False),
        (person("finance"), Deed.ERASE, None, False),
        (person("operator"), Deed.ERASE, None, True),
        (person("operator"), Deed.MANAGE_PEOPLE, None, False),
        (person("admin:SG"), Deed.MANAGE_PEOPLE, None, False),
        (person("admin:SG"), Deed.APPROVE, "SG", True),
        (person("admin"), Deed.MANAGE_PEOPLE, None, True),
        (person(), Deed.SEE, "SG", False),
        (LOGIN, Deed.ADJUST, "SG", True),
        (LOGIN, Deed.ERASE, None, True),
        (LOGIN, Deed.APPROVE, "SG", False),
        (LOGIN, Deed.MANAGE_PEOPLE, None, False),
    ],
)
def test_who_may_do_what(actor: Actor, deed: Deed, country: str | None, allowed: bool) -> None:  # noqa: FBT001  # a row's outcome
    assert may(actor, deed, country) is allowed


def test_every_deed_is_allowed_by_somebody_and_by_every_admin() -> None:
    for deed in Deed:
        assert may(person("admin"), deed, None)
        assert Role.ADMIN in roles_for(deed)


grants = st.builds(Grant, st.sampled_from(Role), st.sampled_from([None, "SG", "ID"]))
actors = st.builds(Actor, st.just("ann"), st.none() | st.lists(grants, max_size=4).map(tuple))


@given(actors, st.sampled_from(Deed))
def test_what_is_allowed_in_all_countries_is_allowed_in_each(actor: Actor, deed: Deed) -> None:
    if may(actor, deed, None):
        assert may(actor, deed, "SG")
    open_to = countries_of(actor, deed)
    assert may(actor, deed, "SG") is (open_to is None or "SG" in open_to)


def test_a_refusal_says_what_is_missing() -> None:
    with pytest.raises(Refused, match=r"^ann may not adjust in ID; that takes the role support or admin$"):
        check(person("support:SG"), Deed.ADJUST, "ID")
    with pytest.raises(Refused, match=r"^ann may not move points in all countries; that takes"):
        check(person("support:SG"), Deed.MOVE_POINTS, None)
    with pytest.raises(Refused, match=r"^root@host is a login and no person: to approve takes the token of a person"):
        check(LOGIN, Deed.APPROVE, "SG")


def test_where_people_are_required_a_login_changes_nothing() -> None:
    check(LOGIN, Deed.ADJUST, "SG")
    with pytest.raises(Refused, match="is a login and no person"):
        check(LOGIN, Deed.ADJUST, "SG", people_required=True)
    check(person("support"), Deed.ADJUST, "SG", people_required=True)


def test_a_login_manages_people_only_until_an_admin_can() -> None:
    check_may_manage(LOGIN, has_admin=False)
    with pytest.raises(Refused):
        check_may_manage(LOGIN, has_admin=True)
    with pytest.raises(Refused):
        check_may_manage(person("operator"), has_admin=True)
    check_may_manage(person("admin"), has_admin=True)


def registered(role: str, *, token: bool = False, disabled: bool = False) -> Registered:
    made = Person(role, parse_grants([role]), NOW, "tests", NOW if disabled else None)
    holds = PersonToken("abp_x", role, b"", NOW, "tests", NOW + timedelta(days=1), None, None)
    return Registered(made, (holds,) if token else ())


WITH_TOKEN, WITHOUT = registered("admin", token=True), registered("admin")
GONE, OTHER = registered("admin", token=True, disabled=True), registered("support", token=True)


@pytest.mark.parametrize(
    ("by", "before", "after", "says"),
    [
        (person("admin"), [WITH_TOKEN], [WITH_TOKEN], None),
        (person("admin"), [WITH_TOKEN, WITHOUT], [WITHOUT], "no admin with a valid token would be left"),
        (LOGIN, [WITH_TOKEN], [GONE], "no admin with a valid token would be left"),
        (person("admin"), [WITHOUT, WITHOUT], [WITHOUT], None),
        (person("admin"), [WITHOUT], [OTHER], "no admin would be left"),
        (person("admin"), [WITHOUT], [registered("admin:SG")], "no admin would be left"),
        (person("admin"), [WITHOUT], [registered("admin", disabled=True)], "no admin would be left"),
        (LOGIN, [WITHOUT], [OTHER], None),
        (person("admin"), [OTHER], [OTHER], None),
    ],
)
def test_an_admin_is_left(by: Actor, before: list[Registered], after: list[Registered], says: str | None) -> None:
    if says is None:
        check_admin_is_left(by, before, after, NOW)
    else:
        with pytest.raises(Refused, match=says):
            check_admin_is_left(by, before, after, NOW)

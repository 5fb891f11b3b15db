"""Of the markup of pages: rules that are broken are named, and few pages stand for all kinds of elements."""

import pytest

from tests.console.kinds import fewest, kinds
from tests.console.markup import Unclosed
from tests.console.markup_rules import broken_rules

PAGE = '<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1>{}</main></html>'


@pytest.mark.parametrize(
    "sound",
    [
        '<label for="a">A</label><input id="a">',
        '<label>A <select><option>1</option></select></label><input type="hidden"><button>Go</button>',
        '<input aria-label="A"><input type="image" alt="Look"><a href="/"><img src="a.svg" alt="Home"></a>',
        "<h2>One</h2><h3>Two</h3><h2>Three</h2><ul><li>1</li></ul><svg><title>A line</title></svg>",
        "<table><tr><th>Points</th></tr><tr><td>1</td></tr></table>",
        '<button tabindex="-1" aria-hidden="true"></button><p aria-labelledby="b">1</p><p id="b">B<br>b</p>',
    ],
)
def test_sound_markup_breaks_no_rule(sound: str) -> None:
    assert broken_rules(PAGE.format(sound)) == []


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ('<input aria-label="A" aria-describedby="nowhere">', "a_reference_leads_somewhere"),
        ('<label for="nowhere">A</label>', "a_reference_leads_somewhere"),
        ('<a href="/"><img src="a.svg" alt=""></a>', "a_link_or_a_button_has_a_name"),
        ("<details><summary> </summary></details>", "a_link_or_a_button_has_a_name"),
        ('<button><span aria-hidden="true">x</span></button>', "a_link_or_a_button_has_a_name"),
        ("<select></select>", "a_field_has_a_label"),
        ('<label for="a"> </label><textarea id="a"></textarea>', "a_field_has_a_label"),
        ('<p><img src="a.svg">A</p>', "a_picture_says_what_it_shows"),
        ("<h1>Another</h1>", "the_page_says_what_it_is"),
        ("<h3>Too low</h3>", "headings_go_down_by_one"),
        ("<h2></h2>", "headings_go_down_by_one"),
        ("<p><li>1</li></p>", "an_entry_is_in_a_list"),
        ("<table><tr><td>1</td></tr></table>", "a_column_has_a_heading"),
    ],
)
def test_a_broken_rule_is_named(broken: str, rule: str) -> None:
    assert {each.partition(":")[0] for each in broken_rules(PAGE.format(broken))} == {rule}


def test_a_page_without_its_names_says_so() -> None:
    assert len(broken_rules("<html><title> </title><h1></h1></html>")) == 5


@pytest.mark.parametrize("unclosed", ["<ul><li>1</ul>", "<p>", "</p>", "<b><i></b></i>"])
def test_elements_are_closed_as_they_are_opened(unclosed: str) -> None:
    with pytest.raises(Unclosed):
        broken_rules(PAGE.format(unclosed))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>a</p>", "<p></p>"),
        ("<p>a</p>", '<p class="quiet">a</p>'),
        ("<p>a</p>", "<section><p>a</p></section>"),
        ("<details></details>", "<details open></details>"),
        ('<input type="text">', '<input type="image">'),
    ],
)
def test_elements_are_of_two_kinds(one: str, other: str) -> None:
    assert not kinds(other) <= kinds(one)


def test_elements_that_differ_in_their_words_are_of_one_kind() -> None:
    assert kinds('<a class="b a" href="/x">one</a>') == kinds('<a href="/y" class="a b">two</a>')


def test_few_pages_have_all_kinds() -> None:
    of_pages = {
        "/list": kinds("<ul><li>1</li></ul>"),
        "/all": kinds("<h1>1</h1><ul><li>1</li></ul>"),
        "/form": kinds("<form></form>"),
        "/one": kinds("<h1>1</h1>"),
    }
    assert list(fewest(of_pages)) == ["/all", "/form"]

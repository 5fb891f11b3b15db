"""Templates that ask for much time or memory."""

from typing import Final

_LONG: Final = "x" * 900

# Each of its steps is small; together they take minutes.
SLOW: Final = (
    f"Hi\n{{% set s = '{_LONG}' %}}{{% for a in s %}}{{% for b in s %}}"
    "{{ '' if s|upper|lower|title|trim|replace('x', 'y') }}{% endfor %}{% endfor %}x"
)
# What the sandbox refuses at once, each with its reason.
REFUSED: Final[list[tuple[str, str]]] = [
    ("{% if 7**3000000 > 1 %}x{% endif %}", "line 2: ** is not for messages"),
    ("{{ 10 ** count }}", "line 2: ** is not for messages"),
    ("{{ 'x' * 300000000 }}", "* between str and int is not for messages"),
    ("{{ 300000000 * 'x' }}", "* between int and str is not for messages"),
    ("{{ event.tags * 300000000 }}", "* between tuple and int is not for messages"),
    ("{{ '%300000000d' % count }}", "% between str and int is not for messages"),
    ("{{ '%300000000d' | format(3) }}", "line 2: No filter named 'format'."),
    ("{{ '{:>300000000}'.format(1) }}", "access to attribute 'format' of 'str' object is unsafe."),
    ("{{ '{x:>300000000}'.format_map({}) }}", "line 2: dict is not for messages"),
    ("{{ 'x'.center(300000000) }}", "access to attribute 'center' of 'str' object is unsafe."),
    ("{{ 'x'.ljust(300000000) }}", "access to attribute 'ljust' of 'str' object is unsafe."),
    ("{{ 'x'.zfill(300000000) }}", "access to attribute 'zfill' of 'str' object is unsafe."),
    ("{{ count.to_bytes(300000000) }}", "access to attribute 'to_bytes' of 'int' object is unsafe."),
    ("{{ 'x' | center(300000000) }}", "line 2: No filter named 'center'."),
    ("{{ 'x' | indent(300000000) }}", "line 2: No filter named 'indent'."),
    ("{{ event.tags | tojson(300000000) }}", "line 2: No filter named 'tojson'."),
    ("{{ 'a' | list | map('upper') | list }}", "line 2: No filter named 'map'."),
    ("{{ 1 | round(300000000, 'ceil') }}", "round to at most 12 decimals"),
    ("{% for i in range(300000000) %}x{% endfor %}", "'range' is no field; there are count, event"),
    ("{% set a = event.long %}" + "{% set a = a ~ a %}" * 30 + "{{ a }}", "a text of more than 16,384 characters"),
    ("{% set a = event.long %}" + "{% set a = a + a %}" * 30 + "{{ a }}", "a text of more than 16,384 characters"),
    ("{{ event.long | replace('x', event.long) | replace('x', event.long) }}", "a text of more than 16,384 characters"),
    ("{{ [event.long, event.long] | join(event.long * 1) }}", "* between str and int is not for messages"),
    (
        "{% set a = event.long ~ event.long %}{{ event.tags | join(a ~ a ~ a) | replace('x', a) }}",
        "a text of more than 16,384 characters",
    ),
    ("{% set a = 99999 %}" + "{% set a = a * a %}" * 30 + "{{ a }}", "a number of more than 30 digits"),
    ("{% set a = [1] %}" + "{% set a = [a, a] %}" * 30 + "{{ a }}", "a list of lists"),
    ("{% set a = [1] %}" + "{% set a = a + a %}" * 30 + "{{ a }}", "+ between list and list is not for messages"),
    ("{% set a %}{{ event.long }}{% endset %}{{ a }}", "line 2: assignblock is not for messages"),
    ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "line 2: macro is not for messages"),
    ("{% for a in event.tags recursive %}{{ loop(event.tags) }}{% endfor %}", "line 2: for is not for messages"),
    ("{% for a in 'ab' %}" * 3 + "x" + "{% endfor %}" * 3, "line 2: more than 2 loops inside each other"),
    ("{% for a in event.long ~ event.long %}x{% endfor %}", "a text of more than 1,000 characters for a loop"),
    ("{% for a in event.long %}{{ event.long }}{% endfor %}", "a message of more than 16,384 characters"),
    ("{% include 'x' %}", "line 2: include is not for messages"),
    ("{% filter upper %}x{% endfilter %}", "line 2: filterblock is not for messages"),
    ("{{ namespace(a=1) }}", "'namespace' is no field; there are count, event"),
    ("{{ event.name.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe."),
    ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "too much stands inside each other"),
    ("{{ " + "-" * 9000 + "1 }}", "too much stands inside each other"),
    ("{{ " + "9" * 9000 + " }}", "Exceeds the limit (4300 digits)"),
    ("{% if 1 %}" * 300 + "x" + "{% endif %}" * 300, "too much stands inside each other"),
]

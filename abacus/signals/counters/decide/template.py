"""The template of a counter's keys: fixed text and fields, such as `rain_drops:city:{city_id}`. Pure."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.core.fields import Bad, quoted, string
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.events.types import VariableType

LONGEST_KEY: Final = 512  # bytes
MAX_TEMPLATE: Final = 200  # characters
MAX_FIELDS: Final = 8
MEMBER_FIELD: Final = "member_id"
COUNTRY_FIELD: Final = "country"
SEPARATOR: Final = ":"

_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_FIELD_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FIXED: Final = re.compile(r"[A-Za-z0-9:_./-]*")
_ESCAPED: Final = str.maketrans({"%": "%25", SEPARATOR: "%3A"})
_TYPES: Final = (VariableType.TEXT, VariableType.INTEGER, VariableType.BOOLEAN)
_VALUE: Final = "(?:[^%:]|%25|%3A)*"  # that is not the last


class Template(NamedTuple):
    """Fixed `texts` around the `fields`, one more text than fields."""

    texts: tuple[str, ...]
    fields: tuple[str, ...]

    @property
    def beginning(self) -> str:
        """The text before the first field: every key of the counter begins with it, and no key of another does."""
        return self.texts[0]

    def __str__(self) -> str:
        fields = (f"{{{field}}}{text}" for field, text in zip(self.fields, self.texts[1:], strict=True))
        return self.beginning + "".join(fields)


def read_template(value: object) -> Template:
    """Raises `Bad`."""
    text = string(value)
    if len(text) > MAX_TEMPLATE:
        raise Bad(f"{quoted(text)} has {len(text)} characters; write at most {MAX_TEMPLATE}")
    parts = _FIELD.split(text)
    template = Template(tuple(parts[::2]), tuple(parts[1::2]))
    for name in template.fields:
        if not _FIELD_NAME.fullmatch(name):
            raise Bad(f"{{{name}}} is not a field; write the name of a variable, such as {{city_id}}")
    for fixed in template.texts:
        if not _FIXED.fullmatch(fixed):
            raise Bad(f"{quoted(fixed)}: beside fields, write letters, digits, colons, dots, dashes, slashes and _")
    if not template.beginning:
        raise Bad("write fixed text before the first field, such as rides:{member_id}")
    if len(template.fields) > MAX_FIELDS:
        raise Bad(f"{len(template.fields)} fields; write at most {MAX_FIELDS}")
    for name, between in zip(template.fields, template.texts[1:-1], strict=False):
        if not between.startswith(SEPARATOR):
            raise Bad(f"write a colon after {{{name}}}: two fields need one between them, to be told apart")
    return template


def escaped(value: str) -> str:
    """A value as it stands in a key before another field."""
    return value.translate(_ESCAPED) if SEPARATOR in value or "%" in value else value


@lru_cache(maxsize=20_000)
def pattern_of(template: Template) -> re.Pattern[str]:
    """The pattern of the template's keys."""
    values = [_VALUE] * (len(template.fields) - 1) + [".*"] * bool(template.fields)
    rest = (value + re.escape(text) for value, text in zip(values, template.texts[1:], strict=True))
    return re.compile(re.escape(template.beginning) + "".join(rest), re.DOTALL)


def check_in_template(name: str, vocabulary: Vocabulary) -> None:
    """Raises `Bad` for a field that a template cannot have."""
    if name == MEMBER_FIELD:
        vocabulary.check_has_members()
    elif name == COUNTRY_FIELD:
        vocabulary.check_has_countries()
    elif (kind := vocabulary.type_of(name)) not in _TYPES:
        raise Bad(f"of type {kind}; a template takes {', '.join(_TYPES)}")

"""Forms: what was typed, kept beside what is wrong with it, and the key by which a form takes effect once."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

import asyncpg
from starlette.requests import Request

from abacus.console.decide.typed import day
from abacus.console.web.faults import PageFault
from abacus.console.web.multipart import MEDIA_TYPE as WITH_FILES
from abacus.console.web.multipart import parts_of
from abacus.core.clock import Clock
from abacus.platform.postgres import Also, Connection
from abacus.platform.sql import Statement

FORM_TOKEN: Final = "form"  # noqa: S105  # the name of the hidden field that binds a form to its session
FORM_KEY: Final = "key"  # the hidden field by which it takes effect once
_MOST_BYTES: Final = 256 * 1024
_MOST_BYTES_OF_FILES: Final = 1024 * 1024
_MOST_FIELDS: Final = 4000
_MEDIA_TYPE: Final = "application/x-www-form-urlencoded"
CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DONE: Final = Statement("insert into console_form (key, person_id, done_at) values (:key, :person_id, :now)")


@dataclass(frozen=True)
class Form:
    """What was typed, by the name of the field, and what is wrong with it."""

    typed: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Without spaces around it; empty where nothing was typed."""
        return self.typed.get(name, "").strip()

    def exactly(self, name: str) -> str:
        """As it was typed, for a password."""
        return self.typed.get(name, "")

    def but(self, **wrong: str) -> "Form":
        """The same with these faults."""
        return Form(self.typed, {**self.wrong, **wrong})

    def with_days(self, *names: str) -> "Form":
        """With a fault at each of these fields that has no day in it."""
        odd = [each for each in names if self.get(each) and day(self.get(each)) is None]
        return self.but(**dict.fromkeys(odd, "Write a day as 2026-03-01."))

    def with_one_of(self, name: str, values: Collection[str]) -> "Form":
        """With a fault, where something else was chosen."""
        return self.but(**{name: "Choose one of the list."}) if self.get(name) not in {"", *values} else self

    @property
    def key(self) -> UUID:
        """Raises `PageFault` for a form that was not rendered here."""
        try:
            return UUID(self.get(FORM_KEY))
        except ValueError:
            raise PageFault("form-expired", "Go back, load the page again, and send the form once more.") from None

    def shown(self, *secret: str) -> "Form":
        """What may be shown again, or told: no token, no key, and no secret."""
        hidden = {FORM_TOKEN, FORM_KEY, *secret}
        return Form({name: value for name, value in self.typed.items() if name not in hidden}, self.wrong)


EMPTY: Final = Form()


class WrongForm(Exception):  # as errors here are named
    """The form cannot be taken: the page comes back with it, and with what is wrong."""

    def __init__(self, form: Form, fault: str | None = None) -> None:
        super().__init__(fault)
        self.form = form
        self.fault = fault


async def read_form(request: Request, *, takes_files: bool = False) -> Form:
    """Of a field that comes several times the last counts, but for `field[]`, whose values are put together by lines.
    The text of a file is the value of its field. Raises `PageFault`.
    """
    content_type = request.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != _MEDIA_TYPE and not (takes_files and media_type == WITH_FILES):
        raise PageFault("unsupported-media-type")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > (_MOST_BYTES_OF_FILES if takes_files else _MOST_BYTES):
            raise PageFault("too-large", "Go back: nothing is lost there.")
    try:
        if media_type == WITH_FILES:
            pairs = list(parts_of(content_type, bytes(body)))
        else:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise PageFault("malformed", "The form cannot be read. A file has to be text, in UTF-8.") from None
    typed: dict[str, str] = {}
    for name, value in pairs:
        clean = CONTROL.sub("", value)
        typed[name] = f"{typed[name]}\n{clean}" if name.endswith("[]") and name in typed else clean
    return Form(typed)


def new_form_key() -> str:
    return str(uuid4())


class DoneBefore(Exception):  # as errors here are named
    """The form has taken effect already; this time nothing happened."""


def once(form: Form, person_id: str, clock: Clock, also: Also) -> Also:
    """`also`, and in the same transaction the note that the form took effect: for a room without idempotency of its
    own. Raises `DoneBefore` out of the room where it did before, and undoes what the room did.
    """
    key = str(form.key)

    async def both(connection: Connection) -> None:
        try:
            await connection.execute(*_DONE(key=key, person_id=person_id, now=clock.now()))
        except asyncpg.UniqueViolationError:
            raise DoneBefore from None
        await also(connection)

    return both

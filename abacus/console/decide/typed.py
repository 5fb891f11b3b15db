"""What people type into fields, as documents have it; what cannot be read stays text, for its fault to name. Pure."""

from datetime import datetime


def whole(typed: str) -> int | str:
    return int(typed) if typed.isascii() and typed.isdecimal() else typed


def moment(typed: str) -> datetime | str:
    try:
        return datetime.fromisoformat(typed)
    except ValueError:
        return typed

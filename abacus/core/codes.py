"""Codes as people read and type them. The last character checks the others: a wrong character and two that changed
places are always noticed, so a slip costs no look into the database.
"""

from collections.abc import Callable
from typing import Final

ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # 31, a prime: no 0 or O, no 1, I or L
LENGTH: Final = 12  # with the check character: 31 to the 11th are 25 million billion codes
MOST_LENGTH: Final = 64  # of any code, ours or another's
_GROUP: Final = 4
_VALUES: Final = {letter: value for value, letter in enumerate(ALPHABET)}
_LOOK_ALIKES: Final = str.maketrans({"-": None, "O": "0", "I": "1", "L": "1"})


def drawn(below: Callable[[int], int], length: int = LENGTH) -> str:
    """A new code; `below` draws a number below another, as `secrets.randbelow` does."""
    body = "".join(ALPHABET[below(len(ALPHABET))] for _ in range(length - 1))
    return body + check_character(body)


def check_character(body: str) -> str:
    """Of a body of at most 30 characters."""
    return ALPHABET[sum(place * _VALUES[letter] for place, letter in enumerate(body, 1)) % len(ALPHABET)]


def spelled(code: str) -> str:
    """The code in groups, as it is printed."""
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))


def normalized(text: str) -> str:
    """What was typed, without spaces, hyphens and small letters, and with digits for the letters that look like them:
    codes are compared in this form.
    """
    return "".join(text.split()).upper().translate(_LOOK_ALIKES)


def is_ours(code: str) -> bool:
    """Whether a normalized code has the length, the letters and the check character of codes that Abacus draws."""
    body = code[:-1]
    return len(code) == LENGTH and all(each in _VALUES for each in code) and check_character(body) == code[-1]

"""A member becomes a pseudonym: in keys, in explanations, along the chain of hashes. Pure."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from abacus.core.ids import OF_THEIR_MEMBER
from abacus.ledger.decide.chain import chain
from abacus.ledger.types.transfer import Transfer

PSEUDONYM: Final = "erased-"
ERASED: Final = "erased"

_TYPED: Final = frozenset({"reason", "note"})  # texts that a person typed, which may name anybody


class Pseudonym(NamedTuple):
    """The member's id, and the pseudonym that takes its place."""

    member_id: str
    pseudonym: str

    def key(self, key: str) -> str:
        """The key under the pseudonym. Only the keys of imports and expiries hold the member's id. Other keys came
        from outside, and stay as they are, so that a late delivery is still a duplicate.
        """
        if not key.startswith(OF_THEIR_MEMBER) or key.count(":") < 3:  # noqa: PLR2004  # kind, source or month, member, program
            return key
        kind, place, rest = key.split(":", 2)
        member_id, _, program = rest.rpartition(":")
        return f"{kind}:{place}:{self.pseudonym}:{program}" if member_id == self.member_id else key

    def explanation(self, text: bytes) -> bytes:
        """The explanation without texts that people typed and without the member. An explanation that has neither
        stays as it is, to the byte.
        """
        before = json.loads(text)
        after = self._scrubbed(before)
        return text if after == before else json.dumps(after, ensure_ascii=False, separators=(",", ":")).encode()

    def text(self, text: str) -> str:
        """A sentence of the house's own that may name the member, with the pseudonym."""
        return re.sub(rf"(?<!\w){re.escape(self.member_id)}(?!\w)", self.pseudonym, text)

    def _scrubbed(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._scrubbed_field(name, each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._scrubbed(each) for each in value]
        return self.key(value) if isinstance(value, str) else value

    def _scrubbed_field(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and name in _TYPED:
            return ERASED
        # Anywhere else the same text means something else: a vertical may have the name of a member.
        return self.pseudonym if name == "member_id" and value == self.member_id else self._scrubbed(value)


def rechained(transfers: Iterable[Transfer], renaming: Pseudonym, head: bytes) -> list[Transfer]:
    """The same transfers under the pseudonym, following that head. Balances and times stay as they are."""
    after: list[Transfer] = []
    for transfer in transfers:
        renamed = transfer._replace(
            member_id=renaming.pseudonym,
            key=renaming.key(transfer.key),
            explanation=renaming.explanation(transfer.explanation),
            reverses=transfer.reverses and renaming.key(transfer.reverses),
        )
        head = chain(head, renamed[:-1])
        after.append(renamed._replace(hash=head))
    return after

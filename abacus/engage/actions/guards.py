"""The guards of actions of several kinds of owners, as one."""

from collections.abc import Mapping, Sequence

from abacus.engage.actions.types import DueAction, Guards, Refusals


def guarded_by(guards: Mapping[str, Guards]) -> Guards:
    """The guards of each kind of owners. An action of another kind waits for a process that knows its kind."""

    async def refusals(actions: Sequence[DueAction]) -> Refusals:
        by_kind: dict[str, list[DueAction]] = {}
        for each in actions:
            by_kind.setdefault(each.owner_kind, []).append(each)
        against: dict[DueAction, str] = {}
        unknown: set[DueAction] = set()
        for kind, some in by_kind.items():
            if kind in guards:
                found = await guards[kind](some)
                against |= found.against
                unknown |= set(found.unknown)
            else:
                unknown |= set(some)
        return Refusals(against, unknown)

    return refusals

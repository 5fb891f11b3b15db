"""Without one lock, look or trigger that keeps a key to one generation of the ledger."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.scripts import GENERATIONS

_CLAIMED: Final = "abacus/ledger/store/claimed_keys.py"
_KEEPER: Final = "abacus/ledger/generations/keeper.py"
_TESTS: Final = "tests/ledger/generations/test_generations.py"


def _killer(test: str) -> tuple[str]:
    return (f"{_TESTS}::{test}",)


MUTANTS: Final = (
    Mutant(
        "the lock of who posts, which holds up who opens the next generation",
        GENERATIONS,
        "",
        Clause("perform pg_advisory_xact_lock_shared(hashtext('ledger generation'), hashtext(current_schema()));"),
        _killer("test_who_posts_holds_up_who_opens_the_next_generation"),
    ),
    Mutant(
        "the lock of who opens the next generation",
        GENERATIONS,
        "",
        Clause("perform pg_advisory_xact_lock(hashtext('ledger generation'), hashtext(home));", "null;"),
        _killer("test_who_posts_holds_up_who_opens_the_next_generation"),
    ),
    Mutant(
        "the trigger by which a generation that was left takes no rows",
        GENERATIONS,
        "",
        Clause(
            "execute format('create trigger %3$I before insert on %1$I.%2$I for each row execute function"
            " abacus_refuse_change()', home, name || '_' || last, name || '_was_left');"
        ),
        _killer("test_a_generation_by_its_name_is_no_door[insert into transfer_1 select * from transfer_1]"),
    ),
    Mutant(
        "the trigger on truncation of a generation by its name",
        GENERATIONS,
        "",
        Clause(
            "before update or delete or truncate on %1$I.%2$I for each statement",
            "before update or delete on %1$I.%2$I for each statement",
        ),
        _killer("test_a_generation_by_its_name_is_no_door[truncate claim_2]"),
    ),
    Mutant(
        "the look into generations that have no filter yet",
        _CLAIMED,
        "ClaimedKeys.among",
        Node("range(1, turn.generation + 1)", "range(turn.generation, turn.generation + 1)"),
        _killer("test_a_key_of_an_earlier_generation_is_known[False]"),
    ),
    Mutant(
        "the look for a key that a filter lets through",
        _CLAIMED,
        "_filtered",
        Node("return found", "return []"),
        _killer("test_a_key_of_an_earlier_generation_is_known[True]"),
    ),
    Mutant(
        "the keys of a generation in its filter",
        _KEEPER,
        "_read",
        Node("key_filter.add(...)"),
        _killer("test_a_key_of_an_earlier_generation_is_known[True]"),
    ),
    Mutant(
        "the look, in verifying, for keys in two generations",
        "abacus/proof/verify.py",
        "_parts",
        Node("len(each.key_pages) > 1", "False"),
        _killer("test_a_key_that_was_posted_to_two_generations_without_a_look_is_found"),
    ),
)

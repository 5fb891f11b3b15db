"""All mutants, and the handful that is tried before every change is merged."""

from typing import Final

from tests.reliability.mutants import (
    of_accounts,
    of_campaigns,
    of_codes,
    of_contact,
    of_duplicates,
    of_exchanges,
    of_generations,
    of_journeys,
    of_limits,
    of_lots,
    of_offers,
    of_pending,
    of_places,
    of_reversals,
    of_rewards,
    of_settlements,
    of_silence,
    of_spending,
    of_taking,
    of_the_console,
    of_the_database,
    of_the_statements,
    of_verifying,
)
from tests.reliability.mutants.mutant import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = (
    *of_the_statements.MUTANTS,
    *of_duplicates.MUTANTS,
    *of_accounts.MUTANTS,
    *of_spending.MUTANTS,
    *of_lots.MUTANTS,
    *of_pending.MUTANTS,
    *of_limits.MUTANTS,
    *of_reversals.MUTANTS,
    *of_the_database.MUTANTS,
    *of_generations.MUTANTS,
    *of_verifying.MUTANTS,
    *of_silence.MUTANTS,
    *of_campaigns.MUTANTS,
    *of_offers.MUTANTS,
    *of_rewards.MUTANTS,
    *of_exchanges.MUTANTS,
    *of_taking.MUTANTS,
    *of_settlements.MUTANTS,
    *of_codes.MUTANTS,
    *of_journeys.MUTANTS,
    *of_contact.MUTANTS,
    *of_places.MUTANTS,
    *of_the_console.MUTANTS,
)

# Of each kind some: a lock, an order, a guard, a key, a check, a limit, a trigger, a right, a comparison.
HANDFUL: Final = frozenset(
    {
        "the lock on accounts",
        "the order in which accounts are locked",
        "the stamp of an account that is ahead of its writer",
        "looking again when a key was claimed by another",
        "the accounts' lock before the look at the keys",
        "the lock on partners' allowances",
        "the lock on a batch of a month's end",
        "the comparison of an award's facts",
        "the look whether enough is there to spend",
        "the look whether a hold is open",
        "what was taken back before",
        "the trigger on changes of transfer",
        "the right to change transfers, withheld",
        "the primary key of claims",
        "the right to change limits, withheld",
        "the sum of the open holds",
    }
)

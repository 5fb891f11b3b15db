"""A transaction that names the redemption of a reward, held against it. Pure."""

from abacus.engage.offers.decide.paid import Comparison, Paid
from abacus.engage.rewards.decide.redemption import Redemption, Stage


def comparison(paid: Paid, redemption: Redemption) -> Comparison:
    """The reward has a country and a stage to be compared by: what the transaction paid for is not in its terms."""
    here = redemption.country == paid.country
    elsewhere = "" if here else f", in {redemption.country}"
    words = f"the reward {redemption.reward}@{redemption.version}, {_cost(redemption)}, is {redemption.stage}"
    return Comparison(here and redemption.stage != Stage.REFUSED, f"{words}{elsewhere}")


def _cost(redemption: Redemption) -> str:
    pieces = "1 piece" if redemption.quantity == 1 else f"{redemption.quantity} pieces"
    return f"{pieces} for {redemption.points} points"

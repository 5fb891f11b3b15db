"""An issuer of points whose decisions are counted in the metrics."""

from abacus.intake.earning.decider import DecidedBatch
from abacus.intake.earning.issuer import PointsIssuer
from abacus.intake.earning.metrics import RETRIES, TRANSACTIONS


class CountedIssuer(PointsIssuer):
    """Counts what it has handed over, by the worker's name."""

    async def hand_over(self, decided: DecidedBatch) -> None:
        await super().hand_over(decided)
        outcomes = {
            "awarded": len(decided.awards),
            "refunded": len(decided.reversals),
            "ignored": decided.ignored,
            "set_aside": len(decided.set_aside),
            "deferred": len(decided.deferred),
        }
        for outcome, count in outcomes.items():
            TRANSACTIONS.labels(self.worker, outcome).inc(count)
        for each in decided.deferred:
            RETRIES.labels(each.dependency.partition(" ")[0]).inc()

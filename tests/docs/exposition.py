"""Every metric as `/metrics` shows it, also those that nothing has counted yet: `python -m tests.docs.exposition`."""

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache

from prometheus_client import Counter, Gauge, Histogram, generate_latest

from tests.support.metric_lists import declared_metrics, metric_lists


@cache
def labels() -> Mapping[str, frozenset[str]]:
    """The labels of every metric, by its name as the code declares it."""
    trees = [ast.parse(inspect.getsource(module)) for module in metric_lists()]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1]
    literals = [[ast.literal_eval(argument) for argument in call.args] for call in calls if _declares(call)]
    return {name: frozenset(more[0] if more else ()) for name, _, *more in literals}


def _declares(call: ast.Call) -> bool:
    first = call.args[0]
    return isinstance(first, ast.Constant) and str(first.value).startswith("abacus_")


def exposition() -> str:
    """As the health port answers it, with one series of each metric that has labels."""
    declared = labels()
    for metric in declared_metrics():
        if isinstance(metric, Counter | Gauge | Histogram):
            (family,) = metric.describe()
            if names := declared[family.name]:
                metric.labels(*("some" for _ in names))
    return generate_latest().decode()


if __name__ == "__main__":
    sys.stdout.write(exposition())

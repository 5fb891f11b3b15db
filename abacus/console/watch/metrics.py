"""The metrics of the watch, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# Looks at the house by this process: whole, or in part because something could not be read; and alarms that stand.
LOOKS: Final = Counter("abacus_console_looks", "Looks of the console at the house", ["outcome"])
ALARMS: Final = Gauge("abacus_console_alarms", "Alarms of the console that stand")

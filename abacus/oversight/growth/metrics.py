"""The metrics of growth, in one list. Names are stable: dashboards and alerts rely on them."""

from typing import Final

from prometheus_client import Counter, Gauge

# The bytes of tables with their indexes, by group of tables, over all slices and servers. The process that leads has
# them: take the maximum over processes.
DATABASE_BYTES: Final = Gauge("abacus_database_bytes", "Bytes of tables with their indexes", ["tables"])

# In how many seconds the disks are full at the rate of the last thirty days; infinite where nobody told how large the
# disks are, where nothing grows, and in processes that do not lead: take the minimum over processes.
FULL_IN: Final = Gauge("abacus_database_full_in_seconds", "Time until the disks of the database are full")
FULL_IN.set(float("inf"))

# Rows that were deleted because their time was over.
ROWS_SWEPT: Final = Counter("abacus_rows_swept", "Rows deleted because their time was over", ["table"])

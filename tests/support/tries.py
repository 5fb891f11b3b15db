"""How often a thing is tried: less often with each change, for which somebody waits, than by `make nightly`."""

import hypothesis


def tries(*, by_day: int, by_night: int) -> int:
    searching = hypothesis.settings.get_current_profile_name() == "searching"
    return by_night if searching else by_day

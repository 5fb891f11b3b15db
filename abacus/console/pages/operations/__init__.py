"""The pages of people who run the house."""

from typing import Final

from abacus.console.pages.operations import (
    caches,
    dead_letters,
    errands,
    quarantine,
    quarantine_selection,
    settings,
    state,
    where,
)
from abacus.console.web.routes import file, form, page, stream
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/operations", state.operations),
    stream("/operations/live", state.live),
    page("/quarantine", quarantine.quarantine, everywhere=True),  # an item has no country before it is read
    page("/quarantine/items/{item}", quarantine.item, everywhere=True),
    form("/quarantine", quarantine.choose, Deed.REPLAY, everywhere=True, shows=quarantine.quarantine),
    page("/quarantine/selections/{selection:uuid}", quarantine_selection.selection, Deed.REPLAY, everywhere=True),
    form("/quarantine/selections/{selection:uuid}/try", quarantine_selection.try_it, Deed.REPLAY, everywhere=True),
    form(
        "/quarantine/selections/{selection:uuid}/replay",
        quarantine_selection.replay,
        Deed.REPLAY,
        everywhere=True,
        shows=quarantine_selection.selection,
    ),
    page("/dead-letters", dead_letters.dead_letters, everywhere=True),
    form("/dead-letters/count", dead_letters.count, everywhere=True),
    form("/dead-letters/redrive", dead_letters.redrive, Deed.REPLAY, everywhere=True, shows=dead_letters.dead_letters),
    # A key says nothing of the country until it is found.
    page("/where", where.where, everywhere=True),
    form("/where", where.look_everywhere, everywhere=True),
    page("/tasks", errands.errands),
    page("/tasks/{id:uuid}", errands.errand),
    form("/tasks/{id:uuid}/cancel", errands.cancel),
    file("/tasks/{id:uuid}/document", errands.document),
    file("/tasks/{id:uuid}/files/{file}", errands.kept_file),
    file("/tasks/{id:uuid}/tables/{table}", errands.table),
    page("/caches", caches.caches, everywhere=True),
    page("/settings", settings.settings, Deed.RUN_JOBS, everywhere=True),
)

"""The roles of the database that processes act as. docs/operate/deploy.md says which login needs which."""

from typing import Final

APPLICATION_ROLE: Final = "abacus_app"  # the workers, and most commands
PEOPLE_ROLE: Final = "abacus_people"  # people, their tokens, and their ways into the console
CONSOLE_ROLE: Final = "abacus_console"  # sessions and errands

"""Who acts: a person whose token was checked, or a login of a machine that nobody vouches for. Pure values."""

from typing import NamedTuple

from abacus.core.sources import Agent, login_source, person_source
from abacus.people.types.person import Grant


class Actor(NamedTuple):
    """A person or a login that acts. `grants` is None for a login: the machine gave its name, and it is no identity."""

    name: str
    grants: tuple[Grant, ...] | None

    @property
    def is_authenticated(self) -> bool:
        return self.grants is not None

    @property
    def source(self) -> str:
        """`person:ann`, or `login:root@host`: two actors are the same exactly when their sources are."""
        return person_source(self.name) if self.is_authenticated else login_source(self.name)

    @property
    def agent(self) -> Agent:
        """The agent of its movements."""
        return Agent(self.name, self.source)

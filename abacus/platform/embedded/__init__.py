"""Postgres, SQS and Kafka on loopback from pip packages: for a laptop, the demo and the tests.

Each part speaks the real protocol, so the code that talks to it is the code that runs in production; only the URLs
differ. It is not meant for production traffic. Postgres keeps its data in the data directory; SQS and Kafka live in
memory, so their messages end with the stack. The packages come with `pip install "abacus[embedded]"`.
"""

from abacus.platform.embedded.stack import EmbeddedStack

__all__ = ["EmbeddedStack"]
